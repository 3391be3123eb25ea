// SPDX-License-Identifier: MIT
#if File
    import BackendFile
    import Foundation
    import KeychainAPI
    import KeychainConformance

    /// Encrypted files, each in a temporary folder of its own.
    struct FileHarness: ConformanceHarness {
        /// What unlocks the files.
        enum Secret {
            /// 32 bytes; takes no time.
            case key
            /// A passphrase; each opening takes its tenth of a second.
            case passphrase
        }

        let secret: Secret

        var powers: HarnessPowers { [.reopen, .processes, .freshStore] }

        func makeKeychain() throws -> Keychain {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "conformance-\(UUID().uuidString)"
            )
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let bytes = secret == .key ? Data(0..<32) : Data("correct horse battery staple\n".utf8)
            guard
                FileManager.default.createFile(
                    atPath: folder.appendingPathComponent("secret").path,
                    contents: bytes,
                    attributes: [.posixPermissions: 0o600]
                )
            else { throw KeychainError(.io, "The file with the key could not be written.") }
            return try open(folder.appendingPathComponent("store.keychain").path)
        }

        func discard(_ keychain: Keychain) throws {
            try FileManager.default.removeItem(atPath: folder(of: keychain))
        }

        func reopen(_ keychain: Keychain) throws -> Keychain { try open(path(of: keychain)) }

        func workerCommand(for keychain: Keychain) -> WorkerCommand? {
            WorkerCommand(
                executable: WorkerProgram.path,
                storeURL: keychain.location,
                environment: environment(path(of: keychain))
            )
        }

        /// The environment of a store: it must not leave anything in the person's own folders.
        private func environment(_ path: String) -> [String: String] {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return [
                "KEYCHAIN_KEY": "\(secret == .key ? "keyfile" : "file"):\(folder)/secret",
                "XDG_STATE_HOME": "\(folder)/state",
            ]
        }

        private func path(of keychain: Keychain) -> String { String(keychain.location.dropFirst("file:".count)) }

        private func folder(of keychain: Keychain) -> String {
            URL(fileURLWithPath: path(of: keychain)).deletingLastPathComponent().path
        }

        private func open(_ path: String) throws -> Keychain {
            let file = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("secret").path
            let options = StoreOptions(keySource: secret == .key ? .keyFile(file) : .file(file), creation: .ifMissing)
            let driver = try FileDriver(path: path, options: options, environment: environment(path))
            return Keychain(driver: driver, accessGroup: AccessGroup(rawValue: "conformance"))
        }
    }
#endif
