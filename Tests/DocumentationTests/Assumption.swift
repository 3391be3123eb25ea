// SPDX-License-Identifier: MIT

/// Swift that blocks take for granted and that no page can say itself.
enum Assumption {
    /// The shapes of types of swift-crypto and swift-certificates, which this package does not depend on.
    static let otherLibraries = """
        import Foundation
        enum Curve25519 { enum Signing { struct PrivateKey: Sendable {
            init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            var rawRepresentation: Data { Data() }
        } } }
        enum P256 { enum Signing {
            struct PrivateKey: Sendable {
                init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
                init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {}
                var x963Representation: Data { Data() }
                var derRepresentation: Data { Data() }
            }
            struct PublicKey: Sendable {
                init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
                init<Bytes: RandomAccessCollection>(derRepresentation: Bytes) throws where Bytes.Element == UInt8 {}
                var x963Representation: Data { Data() }
                var derRepresentation: Data { Data() }
            }
        } }
        public enum X509 { public struct Certificate: Sendable { init(derEncoded: [UInt8]) throws {} } }
        enum DER { struct Serializer {
            var serializedBytes: [UInt8] = []
            mutating func serialize(_ certificate: X509.Certificate) throws {}
        } }
        """

    /// What every documentation comment takes for granted.
    static let common = """
        import SwiftKeychain
        let keychain = Keychain.default

        """

    /// What the documentation comments of a file take for granted besides; here, since a comment in a documentation
    /// comment would be shown.
    static let ofComments: [String: String] = [
        "Sources/KeychainAPI/Errors/KeychainError.swift": #"let token = "8e9c0a7f""#,
        "Sources/KeychainAPI/Items/ApplicationPassword.swift": """
        let seed = "8e9c0a7f"
        let query = SecItemQuery<GenericPassword>.credential(for: "seed")
        """,
        "Sources/KeychainAPI/Transfer/Keychain+Migrate.swift": "let file = Keychain(driver: MemoryDriver())",
        "Sources/KeychainAPI/TypedKeys/KeychainCodec.swift": """
        struct SessionV1: Codable {}
        struct Session: Codable, Sendable { init(_ old: SessionV1) {} }
        """,
        "Sources/KeychainAPI/TypedKeys/KeychainKeys.swift": "struct Session: Codable, Sendable {}",
        "Sources/KeychainAPI/TypedKeys/KeychainValues.swift": connection,
        "Sources/KeychainAPI/Values/JSONEncoded.swift": """
        struct Session: Codable, Sendable {}
        let session = Session()
        """,
        "Sources/KeychainAPI/Values/SecIdentityConvertible.swift": """
        extension P256.Signing.PrivateKey: SecKeyConvertible {}
        extension X509.Certificate: SecCertificateConvertible {
            public init(derRepresentation: Data) throws { try self.init(derEncoded: Array(derRepresentation)) }
            public var derRepresentation: Data { Data() }
        }
        """,
        "Sources/KeychainAPI/Verbs/Keychain+Transaction.swift": #"let newToken = "8e9c0a7f""#,
        "Sources/KeychainConformance/ConformanceHarness.swift": driver,
        "Sources/KeychainConformance/ConformanceSuite.swift": """
        import Testing
        import KeychainConformance
        struct MyHarness: ConformanceHarness {
            func makeKeychain() async throws -> Keychain { Keychain(driver: MemoryDriver()) }
            func discard(_ keychain: Keychain) async throws {}
        }
        """,
        "Sources/KeychainConformance/Workers/ConformanceWorker.swift": driver,
        "Sources/KeychainTesting/KeychainTestStore.swift": "import KeychainTesting\n" + key,
        "Sources/KeychainTesting/KeychainTrait.swift": """
        import KeychainTesting
        import Testing
        func signIn() async throws {}

        """ + key,
        "Sources/KeychainX509/Certificates/Certificate.swift": """
        import KeychainX509
        let text = Data()
        """,
        "Sources/KeychainX509/Keys/CryptoKey.swift": """
        import KeychainX509
        let message = Data()
        """,
        "Sources/SwiftKeychain/KeychainModel.swift": "import Observation\n" + connection,
        "Sources/SwiftKeychain/KeychainStorage.swift": key,
    ]

    private static let key = """
        extension KeychainKeys { static let accessToken = KeychainKey<String>("access token") }
        """

    private static let connection =
        key + """

            struct Connection: Sendable { func authenticate(_ token: String?) async {} }
            let connection = Connection()
            """

    private static let driver = """
        import KeychainConformance
        func MyDriver(folder: String) throws -> MemoryDriver { MemoryDriver() }
        func makeTemporaryFolder() -> String { "" }
        func removeFolder(of keychain: Keychain) throws {}
        """
}
