// SPDX-License-Identifier: MIT
#if X509
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainX509
    import Testing

    /// Keys as items.
    @Suite struct KeyItemTests {
        private let keychain = Keychain(driver: MemoryDriver())

        @Test(arguments: CryptoKeyTests.algorithms) func aKeyIsStoredWithWhatFollowsFromIt(
            algorithm: KeyAlgorithm
        ) throws {
            let key = try CryptoKey.generate(algorithm)
            let query = SecItemQuery<SecKey>.key(for: "tag", descriptor: key.descriptor)
            let publicQuery = SecItemQuery<SecKey>.key(for: "tag", descriptor: key.publicKey.descriptor)
            try keychain.store(key, query: query)
            try keychain.store(key.publicKey, query: publicQuery)
            #expect(try keychain.retrieve(query) == key)
            #expect(try keychain.retrieve(publicQuery) == key.publicKey)
            let bytes: SecureBytes? = try keychain.retrieve(query)
            #expect(try bytes == key.externalRepresentation)
            let info = try #require(try keychain.info(for: query))
            #expect(info.keyType == algorithm.keyType && info.keyClass == .private)
            #expect(info.keySizeInBits == algorithm.sizeInBits && info.effectiveKeySize == algorithm.sizeInBits)
            #expect(info.applicationLabel == key.applicationLabel && info.applicationTag == Data("tag".utf8))
            #expect(info.isPermanent == true && info.canSign == true && info.canDerive == true)
            #expect(info.canDecrypt == true && info.canUnwrap == true)
            #expect(info.canEncrypt == false && info.canVerify == false && info.canWrap == false)
            let other = try #require(try keychain.info(for: publicQuery))
            #expect(other.canEncrypt == true && other.canVerify == true && other.canWrap == true)
            #expect(other.canSign == false && other.canDerive == false && other.canDecrypt == false)
            #expect(throws: KeychainError.duplicateItem) { try keychain.store(key, query: query) }
        }

        @Test func theAsynchronousFormsDoTheSame() async throws {
            let (key, stub) = (try CryptoKey.generate(.ed25519), try P256Stub.PrivateKey())
            let query = SecItemQuery<SecKey>.key(for: "tag", descriptor: key.descriptor)
            try await keychain.store(key, query: query)
            #expect(try await keychain.retrieve(query) == key)
            try await keychain.store(stub, query: .key(for: "tag"))
            let found: P256Stub.PrivateKey? = try await keychain.retrieve(.key(for: "tag"))
            #expect(found?.x963Representation == stub.x963Representation)
        }

        @Test func twoKeysMayHaveOneTag() throws {
            let query = SecItemQuery<SecKey>.key(for: "tag")
            let keys = [try CryptoKey.generate(.p256), try CryptoKey.generate(.p256), try CryptoKey.generate(.p384)]
            for key in keys { try keychain.store(key, query: query) }
            #expect(try keychain.infoAll(for: query).count == 3)
            for _ in 0..<5 { #expect(try keychain.retrieve(query) == keys[0]) }
        }

        @Test func theQueryHasTheLastWord() throws {
            let key = try CryptoKey.generate(.p256)
            let wrong = SecItemQuery<SecKey>.key(for: "tag", descriptor: .rsaPrivateKey)
            #expect(code { try keychain.store(key, query: wrong) } == .invalidParameter)
            #expect(code { try keychain.store(key.publicKey, query: .key(for: "tag")) } == .invalidParameter)
            var query = SecItemQuery<SecKey>.key(for: "tag")
            query.applicationLabel = Data("label".utf8)
            query.canSign = false
            try keychain.store(key, query: query)
            #expect(try keychain.info(for: query)?.canSign == false)
            #expect(try keychain.retrieve(query) == key)
        }

        @Test func bytesThatAreNoKeyAreNotTakenForOne() throws {
            try keychain.store(Data([1, 2, 3]), query: .key(for: "bytes"))
            #expect(code { _ = try keychain.retrieve(.key(for: "bytes")) as CryptoKey? } == .decode)
            #expect(try keychain.retrieve(.key(for: "none")) as CryptoKey? == nil)
            let error = #expect(throws: KeychainError.self) {
                _ = try keychain.retrieve(.key(for: "bytes")) as CryptoKey?
            }
            #expect(error?.location == keychain.location && error?.operation == .retrieve)
        }

        @Test func typesOfTheShapeOfSwiftCryptoConform() throws {
            let key = try P256Stub.PrivateKey()
            let query = SecItemQuery<SecKey>.key(for: "tag")
            try keychain.store(key, query: query)
            let found: P256Stub.PrivateKey? = try keychain.retrieve(query)
            #expect(found?.derRepresentation == key.derRepresentation)
            try keychain.store(key.publicKey, query: .key(for: "tag", descriptor: .ecPublicKey))
            let other: P256Stub.PublicKey? = try keychain.retrieve(.key(for: "tag", descriptor: .ecPublicKey))
            #expect(other?.x963Representation == key.publicKey.x963Representation)
            // A private key is none of the public type.
            #expect(code { _ = try keychain.retrieve(query) as P256Stub.PublicKey? } == .decode)
            #expect(try keychain.retrieve(query) == CryptoKey(derRepresentation: key.derRepresentation))
        }
    }

    /// Stands for swift-crypto's `P256.Signing`, with the same requirements in the same words.
    enum P256Stub {
        struct PrivateKey: Sendable {
            private let key: CryptoKey

            init() throws { key = try CryptoKey.generate(.p256) }

            init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
                key = try CryptoKey(x963Representation: x963Representation, curve: .p256)
                if !key.isPrivate { throw CocoaError(.coderInvalidValue) }
            }

            init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {
                key = try CryptoKey(derRepresentation: Data(derRepresentation))
            }

            var x963Representation: Data { (try? Data(key.externalRepresentation)) ?? Data() }
            var derRepresentation: Data { (try? Data(key.derRepresentation)) ?? Data() }
            var publicKey: PublicKey { PublicKey(key: key.publicKey) }
        }

        struct PublicKey: Sendable {
            let key: CryptoKey

            init(key: CryptoKey) { self.key = key }

            init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {
                key = try CryptoKey(x963Representation: x963Representation, curve: .p256)
                if key.isPrivate { throw CocoaError(.coderInvalidValue) }
            }

            init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {
                key = try CryptoKey(derRepresentation: Data(derRepresentation))
            }

            var x963Representation: Data { (try? Data(key.externalRepresentation)) ?? Data() }
            var derRepresentation: Data { (try? Data(key.derRepresentation)) ?? Data() }
        }
    }

    extension P256Stub.PrivateKey: SecKeyConvertible {}
    extension P256Stub.PublicKey: SecKeyConvertible {}
#endif
