// SPDX-License-Identifier: MIT
#if File && DEBUG
    import Foundation
    import KeychainAPI

    @testable import BackendFile

    /// A file that is opened as the driver does it, and asked for everything.
    struct OpenedFile {
        private let files: MemoryFiles
        private let keys: StoreKeys

        init(_ files: MemoryFiles, keys: StoreKeys) {
            self.files = files
            self.keys = keys
        }

        /// Reads the file, whole or damaged, and goes on writing to it if it is whole.
        ///
        /// - Parameter areValuesIntact: Whether a value that does not open is an error.
        func examine(areValuesIntact: Bool = false) throws(KeychainError) {
            let sealed = try SealedFile(files.place())
            guard sealed.isAuthentic(keys) else { return }
            _ = try Salvage.read(sealed, keys: keys)
            var store = try StoreFile(sealed, keys: keys)
            _ = try FileReport(sealed, store)
            var areAllIntact = true
            for entry in store.index.all {
                let record = try store.index.record(of: entry)
                let found = try store.index.records(RecordSelection(record.primaryKey))
                precondition(found == [record], "A primary key does not lead to its item")
                for attribute in record.attributes {
                    var attributes = AttributeSet()
                    attributes[attribute.name] = attribute.value
                    let found = try store.index.records(RecordSelection(attributes: attributes))
                    precondition(found.contains(record), "An attribute does not lead to its item")
                }
                _ = try? store.salvage?.vouched(found, for: RecordSelection(record.primaryKey), isForOneMatch: true)
                do throws(KeychainError) {
                    let value = try store.file.value(of: record.reference, at: entry.value)
                    precondition(value.count == Int(entry.value.count), "A value has another length")
                } catch {
                    precondition(error.code == .corrupt && !areValuesIntact, "\(error)")
                    areAllIntact = false
                }
            }
            guard store.salvage == nil, let status = try files.place().status() else { return }
            precondition(store.index.liveByteCount <= store.file.tip.length, "There is more than there is")
            let isCurrent = try store.refresh(status, forWriting: false)
            precondition(isCurrent, "A file that no one has touched is another one")
            if areAllIntact { try rewrite(store) }
            try append(to: sealed)
        }

        /// What a rewrite leaves is what was there.
        private func rewrite(_ store: StoreFile) throws(KeychainError) {
            let records = try Self.records(store)
            let copy = try store.file.place.moved(to: store.file.place.path + ".copy")
            let header = store.file.header.successor(after: store.file.tip.sequence)
            let written = try store.writeCopy(of: store.index.all, header, keys, at: copy, CallContext(.store)) {
                (unfinished) throws(KeychainError) in try unfinished.publishAsNew()
            }
            precondition(written.index.count == records.count, "A rewrite has lost something")
            let rewritten = try StoreFile(try SealedFile(copy), keys: keys)
            precondition(rewritten.salvage == nil, "A rewritten file is damaged")
            let isTheSame = try Self.records(rewritten) == records
            precondition(isTheSame, "A rewrite has changed something")
        }

        private static func records(_ store: StoreFile) throws(KeychainError) -> Set<ItemRecord> {
            var records: Set<ItemRecord> = []
            for entry in store.index.all { records.insert(try store.index.record(of: entry)) }
            return records
        }

        /// What is appended is there, and so is all that was.
        private func append(to sealed: SealedFile) throws(KeychainError) {
            let store = try StoreFile(sealed, keys: keys)
            let new = ItemRecord(
                reference: UUID(),
                itemClass: .genericPassword,
                accessGroup: "of the fuzzer",
                isSynchronizable: false,
                attributes: AttributeSet(),
                creationDate: ItemDate(microseconds: 0),
                modificationDate: ItemDate(microseconds: 0)
            )
            guard try store.index.records(RecordSelection(new.primaryKey)).isEmpty else { return }
            var file = store.file
            try file.prepareToAppend()
            let (frame, bytes) = try Frame.seal(
                [RecordOperation(.insert, new)],
                values: [SecureBytes([1])],
                after: file.tip,
                before: file.touched,
                header: file.header,
                keys: keys
            )
            try file.append(bytes, frame)
            let again = try StoreFile(try SealedFile(files.place()), keys: keys)
            precondition(again.salvage == nil, "A file that was written to is damaged")
            precondition(again.index.count == store.index.count + 1, "A commit has lost something")
        }
    }
#endif
