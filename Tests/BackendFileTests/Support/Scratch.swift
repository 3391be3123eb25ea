// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI

    import KeychainSodium
    @testable import BackendFile

    /// A folder of a test's own, removed with everything in it when the test ends.
    final class Scratch: Sendable {
        let folder: String

        init() {
            var template = Array("/tmp/keychain-file-tests-XXXXXX".utf8CString)
            folder = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// The path that most tests use.
        var path: String { "\(folder)/a.keychain" }

        /// A raw key in a file of its own.
        var keyFile: String {
            let path = "\(folder)/key"
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(
                    atPath: path,
                    contents: Self.rawKey,
                    attributes: [.posixPermissions: 0o600]
                )
            }
            return path
        }

        static let rawKey = Data((0..<32).map { UInt8($0) })

        /// A driver on a path of this folder, by default with a raw key, since deriving one from a passphrase is slow.
        func driver(
            _ path: String? = nil,
            key: KeyMaterial = .key(SecureBytes(Scratch.rawKey)),
            creation: StoreOptions.Creation = .ifMissing,
            cost: DerivationCost = .minimal,
            system: any FileSystem = SystemFiles()
        ) throws(KeychainError) -> FileDriver {
            try FileDriver(
                path: path ?? self.path,
                options: StoreOptions(keySource: .material(key), creation: creation),
                environment: [:],
                cost: cost,
                system: system
            )
        }

        /// The bytes of a file.
        func bytes(_ path: String? = nil) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: path ?? self.path))
        }

        /// Puts bytes where a file is, as a file that only its owner may touch.
        func put(_ bytes: Data, at path: String? = nil) throws {
            let path = path ?? self.path
            try? FileManager.default.removeItem(atPath: path)
            guard
                FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600])
            else { throw POSIXError(.EIO) }
        }

        /// The names in the folder.
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        }
    }

    /// The record of a generic password.
    func passwordRecord(_ account: String, service: String = "svc", label: String? = nil) -> ItemRecord {
        var attributes = AttributeSet()
        attributes[.service] = .text(service)
        attributes[.account] = .text(account)
        if let label { attributes[.label] = .text(label) }
        return ItemRecord(
            reference: UUID(),
            itemClass: .genericPassword,
            accessGroup: "",
            isSynchronizable: false,
            attributes: attributes,
            creationDate: ItemDate(Date()),
            modificationDate: ItemDate(Date())
        )
    }

    func passphrase(_ text: String) -> KeyMaterial { .passphrase(SecureBytes(Data(text.utf8))) }

    extension SecureBytes {
        /// The bytes as ordinary data, to compare them.
        var data: Data { withBytes { Data($0) } }
    }

    extension FileDriver {
        /// Stores a new item.
        @discardableResult
        func add(_ record: ItemRecord, _ value: Data) throws(KeychainError) -> ItemRecord {
            try write(CallContext(.store)) { (writer) throws(KeychainError) in
                try writer.commit([.insert(record, SecureBytes(value))])
            }
            return record
        }

        /// Stores a new generic password.
        @discardableResult
        func add(_ account: String, _ value: String) throws(KeychainError) -> ItemRecord {
            try add(passwordRecord(account), Data(value.utf8))
        }

        /// Everything that matches.
        func all(_ selection: RecordSelection = RecordSelection()) throws(KeychainError) -> [ItemRecord] {
            try read(CallContext(.info)) { (reader) throws(KeychainError) in
                try reader.records(selection).sorted { $0.isOrderedBefore($1) }
            }
        }

        /// Everything with its value, by account.
        func contents() throws(KeychainError) -> [String: Data] {
            try read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                var contents: [String: Data] = [:]
                for record in try reader.records(RecordSelection()) {
                    guard case .text(let account)? = record.attributes[.account] else { continue }
                    contents[account] = try reader.value(of: record).data
                }
                return contents
            }
        }

        /// The value of one account, as a call for one match asks for it; nil if there is none.
        func value(of account: String) throws(KeychainError) -> Data? {
            var attributes = AttributeSet()
            attributes[.account] = .text(account)
            let call = CallContext(.retrieve, isForOneMatch: true)
            return try read(call) { (reader) throws(KeychainError) in
                guard let record = try reader.records(RecordSelection(attributes: attributes)).first else { return nil }
                return try reader.value(of: record).data
            }
        }

        /// Removes an item.
        func remove(_ record: ItemRecord) throws(KeychainError) {
            try write(CallContext(.remove)) { (writer) throws(KeychainError) in try writer.commit([.delete(record)]) }
        }

        /// Replaces an item's value.
        func replace(_ record: ItemRecord, _ value: Data) throws(KeychainError) {
            try write(CallContext(.update)) { (writer) throws(KeychainError) in
                try writer.commit([.update(old: record, new: record, value: SecureBytes(value))])
            }
        }
    }

    /// The code of the error that a closure throws, nil if it throws none.
    func code(_ body: () throws(KeychainError) -> Void) -> KeychainError.Code? {
        do throws(KeychainError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }
#endif
