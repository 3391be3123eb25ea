// SPDX-License-Identifier: MIT
#if File
    import BackendMemory
    import Foundation
    import KeychainAPI
    import KeychainSodium
    import Synchronization
    import Testing

    @testable import BackendFile

    /// A store in memory that says that it lasts: it does, as long as the test.
    private struct LastingDriver: KeychainDriver {
        private let base: MemoryDriver

        init(_ base: MemoryDriver) {
            self.base = base
        }

        var identifier: DriverIdentifier { base.identifier }
        var location: String { base.location }
        var capabilities: DriverCapabilities { base.capabilities.union(.persistent) }
        var maximumValueSize: Int { base.maximumValueSize }

        func read<Result>(
            _ call: CallContext,
            _ body: (any RecordReader) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            try base.read(call, body)
        }

        func write<Result>(
            _ call: CallContext,
            _ body: (any RecordWriter) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result {
            try base.write(call, body)
        }
    }

    /// A keychain file with everything around it that can hold a key: variables, credentials, a second store, a person.
    final class KeyBench: Sendable {
        let scratch = Scratch()
        /// A store in memory of this test's own, by the URL `memory:keys`.
        let memory = MemoryDriver()

        var path: String { scratch.path }

        /// The environment: passphrases, a folder for credentials, and no home in which anything is remembered.
        var environment: [String: String] {
            [
                "ONE": "first passphrase", "TWO": "second passphrase", "WEAK": "hunter2",
                "CREDENTIALS_DIRECTORY": "\(scratch.folder)/credentials",
            ]
        }

        init() throws {
            let manager = FileManager.default
            try manager.createDirectory(atPath: "\(scratch.folder)/credentials", withIntermediateDirectories: false)
            try scratch.put(Data("credential passphrase\n".utf8), at: "\(scratch.folder)/credentials/db-key")
            _ = scratch.keyFile
        }

        /// Sources of every kind that can be read without a person.
        var sources: [KeySource] {
            [
                .environment("ONE"), .file("\(scratch.folder)/credentials/db-key"), .keyFile(scratch.keyFile),
                .credential("db-key"), .store(StoreURL(driver: .memory, path: "keys")), .material(passphrase("direct")),
            ]
        }

        /// The registry that leads to the store in memory.
        var registry: DriverRegistry {
            DriverRegistry([
                DriverRegistration(
                    identifier: .memory,
                    summary: "",
                    priority: nil,
                    probe: { _ in .available("") },
                    open: { [memory] (_, _) throws(KeychainError) in LastingDriver(memory) }
                )
            ])
        }

        /// A driver that is unlocked with a source, or finds one by itself.
        func driver(
            _ source: KeySource?,
            path: String? = nil,
            prompt: (any PassphrasePrompt)? = nil,
            environment: [String: String]? = nil,
            registry: DriverRegistry? = nil,
            weaknessNotice: (@Sendable (String) -> Void)? = nil
        ) throws(KeychainError) -> FileDriver {
            try FileDriver(
                path: path ?? self.path,
                options: StoreOptions(
                    keySource: source,
                    prompt: prompt,
                    creation: .ifMissing,
                    weaknessNotice: weaknessNotice,
                    registry: registry ?? self.registry
                ),
                environment: environment ?? self.environment,
                cost: .minimal
            )
        }

        /// The code of the error with which a source fails to open the file, nil if it opens it.
        func failure(of source: KeySource?, environment: [String: String]? = nil) -> KeychainError.Code? {
            code { () throws(KeychainError) in _ = try driver(source, environment: environment).contents() }
        }

        /// Everything of the file behind its head.
        var body: Data { get throws { try scratch.bytes().dropFirst(FileLayout.marks[0]) } }
    }

    /// A call for changing keys.
    var keyCall: CallContext { CallContext(.update, interaction: .allowed) }
#endif
