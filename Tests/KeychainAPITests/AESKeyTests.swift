// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Testing

/// Symmetric keys, as values and as items.
@Suite struct AESKeyTests {
    private let keychain = Keychain(driver: MemoryDriver())

    @Test(arguments: [128, 192, 256]) func aKeyOfEachSizeComesBack(bits: Int) throws {
        let key = try AESKey.generate(bits: bits)
        #expect(key.sizeInBits == bits && key.bytes.count == bits / 8)
        #expect(try AESKey.generate(bits: bits) != key)
        let query = SecItemQuery<SecKey>.key(for: "tag", descriptor: .aesKey)
        try keychain.store(key, query: query)
        #expect(try keychain.retrieve(query) == key)
        let info = try #require(try keychain.info(for: query))
        #expect(info.keyType == .aes && info.keyClass == .symmetric && info.isPermanent == true)
        #expect(info.keySizeInBits == bits && info.effectiveKeySize == bits)
        #expect(info.canEncrypt == true && info.canDecrypt == true && info.canWrap == true && info.canUnwrap == true)
        #expect(info.canSign == false && info.canVerify == false && info.canDerive == false)
        #expect(throws: KeychainError.duplicateItem) { try keychain.store(key, query: query) }
    }

    @Test(arguments: [0, 8, 64, 129, 512, -128]) func noOtherSizeIsMade(bits: Int) {
        let error = #expect(throws: KeychainError.self) { try AESKey.generate(bits: bits) }
        #expect(error?.code == .invalidParameter)
    }

    @Test func bytesOfAnotherLengthAreNoKey() throws {
        let query = SecItemQuery<SecKey>.key(for: "tag", descriptor: .aesKey)
        for count in [0, 15, 17, 33] {
            try keychain.store(Data(count: count), query: query, ifExists: .replaceValue)
            let error = #expect(throws: KeychainError.self) { try keychain.retrieve(query) as AESKey? }
            #expect(error?.code == .decode)
        }
    }

    @Test func theQueryHasTheLastWord() async throws {
        let key = try AESKey.generate()
        let error = await #expect(throws: KeychainError.self) {
            try await keychain.store(key, query: .key(for: "tag"))
        }
        #expect(error?.code == .invalidParameter && error?.location == keychain.location)
        var query = SecItemQuery<SecKey>.key(for: "tag", descriptor: .aesKey)
        query.canWrap = false
        query.applicationLabel = Data([1])
        try await keychain.store(key, query: query)
        query.applicationLabel = Data([2])
        try await keychain.store(key, query: query)
        let infos = try await keychain.infoAll(for: .key(for: "tag", descriptor: .aesKey))
        #expect(infos.map(\.canWrap) == [false, false])
    }

    @Test func nothingPrintsIt() throws {
        let key = try AESKey(rawRepresentation: Data("0123456789abcdef".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("0123456789abcdef") && !text.contains("48, 49") && text.contains("128 bits"))
        }
    }
}
