// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@Suite struct PasswordGeneratorTests {
    private static let alphabet = Set("abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")

    @Test(arguments: [3, 4, 20, 4096])
    func hasTheLengthAndEachKind(_ length: Int) throws {
        let generator = try PasswordGenerator(length: length)
        for _ in 0..<(length > 100 ? 3 : 200) {
            let password = generator.next()
            #expect(password.utf8.count == length)
            #expect(password.allSatisfy(Self.alphabet.contains))
            #expect(password.contains { $0.isLowercase } && password.contains { $0.isUppercase })
            #expect(password.contains { $0.isNumber })
        }
    }

    @Test(arguments: [(1, 3), (3, 1), (4, 3), (5, 7), (1024, 4)])
    func groupsStandBetweenHyphens(_ count: Int, _ length: Int) throws {
        let generator = try PasswordGenerator(groupCount: count, groupLength: length)
        for _ in 0..<(count > 100 ? 3 : 200) {
            let password = generator.next()
            let groups = password.split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.count == count && groups.allSatisfy { $0.count == length })
            #expect(password.utf8.count == generator.length)
            #expect(groups.joined().allSatisfy(Self.alphabet.contains))
            #expect(password.contains { $0.isLowercase } && password.contains { $0.isUppercase })
            #expect(password.contains { $0.isNumber })
        }
        #expect(generator.groupLength == length)
    }

    @Test(arguments: [(0, 3), (3, 0), (1, 2), (2, 1), (-4, -3), (1025, 4), (Int.max, 2), (Int.min, -1)])
    func refusesOtherGroups(_ count: Int, _ length: Int) {
        #expect(throws: KeychainError.Code.invalidParameter.error) {
            try PasswordGenerator(groupCount: count, groupLength: length)
        }
    }

    @Test func websitesGetFourGroupsOfThree() {
        let password = SharedWebCredential.generatePassword()
        #expect(password.split(separator: "-").map(\.count) == [3, 3, 3, 3])
        #expect(password != SharedWebCredential.generatePassword())
        #expect(abs(PasswordGenerator.website.entropy - 69.38) < 0.01)
        #expect(PasswordGenerator.website.length == 15)
    }

    @Test(arguments: [Int.min, -1, 0, 2, 4097, Int.max])
    func refusesOtherLengths(_ length: Int) {
        #expect(throws: KeychainError.Code.invalidParameter.error) { try PasswordGenerator(length: length) }
    }

    @Test func choosesEvenly() throws {
        let text = try PasswordGenerator(length: 4096).next() + PasswordGenerator(length: 4096).next()
        let counts = Dictionary(grouping: text) { $0 }.mapValues(\.count)
        #expect(Set(counts.keys) == Self.alphabet)
        // 149 expected of each, with a standard deviation of 12: seven of those to either side.
        for (_, count) in counts { #expect((63...235).contains(count)) }
    }

    @Test func neverRepeats() throws {
        let generator = try PasswordGenerator()
        #expect(Set((0..<1000).map { _ in generator.next() }).count == 1000)
    }

    @Test func saysHowMuchItKnows() throws {
        #expect(try abs(PasswordGenerator(length: 20).entropy - 115.63) < 0.01)
        #expect(try PasswordGenerator().length == 20)
    }
}

@Suite struct SecureRandomDataGeneratorTests {
    @Test(arguments: [0, 1, 255, 256, 257, 100_000])
    func givesTheCount(_ count: Int) throws {
        var generator = try SecureRandomDataGenerator(count: count)
        let data = try generator.next()
        #expect(data.count == count)
        if count >= 255 {
            #expect(try generator.next() != data)
            // The last bytes are filled too: 32 zeros in a row do not happen.
            #expect(data.suffix(32).contains { $0 != 0 })
        }
    }

    @Test func refusesANegativeCount() {
        #expect(throws: KeychainError.Code.invalidParameter.error) { try SecureRandomDataGenerator(count: -1) }
    }

    @Test func everyByteOccurs() throws {
        var generator = try SecureRandomDataGenerator(count: 100_000)
        let counts = Dictionary(grouping: try generator.next()) { $0 }.mapValues(\.count)
        // 391 expected of each, with a standard deviation of 20: eight of those to either side.
        #expect((0...255).allSatisfy { (231...551).contains(counts[UInt8($0)] ?? 0) })
    }
}
