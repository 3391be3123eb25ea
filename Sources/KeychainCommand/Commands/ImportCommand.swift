// SPDX-License-Identifier: MIT
#if X509
    import FoundationEssentials
    import KeychainAPI
    import KeychainX509

    extension CommandRun {
        /// `import`: stores the keys and certificates of a file.
        func importFile() async throws(KeychainError) -> ExitCode {
            let settings = try settings()
            let path = parsed.operands[0]
            let ifExists = try ifExists
            let format = try format
            _ = try passphraseSource
            let bytes = try contents(of: path, settings)
            let file = try ItemFile(bytes, format: format) { () throws(KeychainError) in
                try filePassphrase(path, isNew: false, settings)
            }
            let target = try open(settings, creation: .ifMissing)
            let (label, tag) = (parsed.value("label"), parsed.value(SelectorOptions.tag))
            try await announcingCreation(of: target) { () async throws(KeychainError) in
                let keychain = target.keychain
                guard target.driver.capabilities.contains(.transactions) else {
                    let call = CallContext(.store, timeout: settings.remaining)
                    return try await CallExecutor.run(call) { () throws(KeychainError) in
                        try store(file, label, tag, ifExists, keychain, call)
                    }
                }
                do {
                    try await keychain.transaction { try store(file, label, tag, ifExists, $0, nil) }
                } catch let error as KeychainError {
                    throw error
                } catch {
                    throw KeychainError(.internal, "Nothing was imported. Please report it.")
                }
            }
            let counts = [(file.keys.count, "key"), (file.certificates.count, "certificate")].filter { $0.0 > 0 }
            let words = counts.map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
            note("imported \(words.joined(separator: " and "))")
            return .done
        }

        private func store(
            _ file: ItemFile,
            _ label: String?,
            _ tag: String?,
            _ ifExists: IfExists,
            _ keychain: Keychain,
            _ call: CallContext?
        ) throws(KeychainError) {
            var count = 0
            do throws(KeychainError) {
                for part in file.keys {
                    // A cancellation reaches this call, and none of those that it makes.
                    try call?.check()
                    var query = SecItemQuery<SecKey>()
                    query.label = label ?? part.label
                    query.applicationTag = tag.map { Data($0.utf8) }
                    try keychain.store(part.key, query: query, ifExists: ifExists)
                    count += 1
                }
                for part in file.certificates {
                    try call?.check()
                    var query = SecItemQuery<SecCertificate>()
                    query.label = (file.isOwn(part.certificate) ? label : nil) ?? part.label
                    try keychain.store(part.certificate, query: query, ifExists: ifExists)
                    count += 1
                }
            } catch {
                if count > 0, !keychain.capabilities.contains(.transactions) {
                    let rest = file.keys.count + file.certificates.count - count
                    note("\(count) of the file's items were stored before that; \(rest) were not")
                }
                throw error
            }
        }
    }
#endif
