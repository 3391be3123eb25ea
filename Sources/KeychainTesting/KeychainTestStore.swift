// SPDX-License-Identifier: MIT

import BackendMemory
import FoundationEssentials
import Glibc
public import KeychainAPI

#if File
    import BackendFile
#endif

/// Where the keychain of a test comes from.
public struct KeychainTestStore: Sendable {
    /// Uses a keychain.
    public typealias Body = @Sendable (_ keychain: Keychain) async throws -> Void

    let provide: @Sendable (_ body: Body) async throws -> Void

    /// A new store in memory: fast, and with everything that the contract promises but items that outlive the process.
    public static let memory = KeychainTestStore { body in try await body(Keychain(driver: MemoryDriver())) }

    #if File
        /// A new encrypted file with a random key, in a temporary folder that is removed afterwards.
        ///
        /// The driver is the one that an application has on a server. Neither the environment's key nor the person's
        /// folders are touched.
        public static let file = KeychainTestStore { body in
            let folder = try makeTemporaryFolder()
            let result: Result<Void, any Error>
            do {
                var random = try SecureRandomDataGenerator(count: 32)
                let options = StoreOptions(
                    keySource: .material(.key(SecureBytes(try random.next()))),
                    creation: .ifMissing
                )
                let driver = try FileDriver(path: folder + "/test.keychain", options: options, environment: [:])
                result = .success(try await body(Keychain(driver: driver)))
            } catch {
                result = .failure(error)
            }
            try FileManager.default.removeItem(atPath: folder)
            try result.get()
        }
    #endif

    /// A store of your own.
    ///
    /// ```swift
    /// static let prepared = KeychainTestStore.custom { body in
    ///     let keychain = Keychain(driver: MemoryDriver())
    ///     try await keychain.set("8e9c0a7f", for: .accessToken)
    ///     try await body(keychain)
    /// }
    /// ```
    ///
    /// - Parameter provide: Makes a keychain that no other test has, calls the closure that it is given with it once, and
    ///   clears away what it made.
    public static func custom(_ provide: @escaping @Sendable (_ body: Body) async throws -> Void) -> KeychainTestStore {
        KeychainTestStore(provide: provide)
    }

    #if File
        private static func makeTemporaryFolder() throws(KeychainError) -> String {
            let parent = FileManager.default.temporaryDirectory.path
            var template = Array("\(parent)/keychain-test-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                let text = String(cString: strerror(errno))
                throw KeychainError(
                    .io,
                    "No folder for the test's keychain could be made in ‘\(parent)’: \(text). Set TMPDIR."
                )
            }
            return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    #endif
}
