// SPDX-License-Identifier: MIT

package import KeychainAPI

/// A driver that lets a watcher see, and fail, what is asked of another one.
package final class SpyDriver: KeychainDriver {
    private let base: any KeychainDriver
    private let watcher: any CallWatcher
    private let limit: Int?

    /// Makes a driver over another one.
    ///
    /// - Parameters:
    ///   - base: The driver that keeps the items.
    ///   - watcher: Sees every call before it does.
    ///   - maximumValueSize: The largest value that seems to be taken, nil for the driver's own limit.
    package init(over base: any KeychainDriver, watcher: any CallWatcher, maximumValueSize: Int? = nil) {
        self.base = base
        self.watcher = watcher
        limit = maximumValueSize
    }

    package var identifier: DriverIdentifier { base.identifier }
    package var location: String { base.location }
    package var capabilities: DriverCapabilities { base.capabilities.union(watcher.addedCapabilities) }
    package var maximumValueSize: Int { limit ?? base.maximumValueSize }
    package var stamps: StampSource { base.stamps }

    package func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try watcher.pass(.read, call)
        return try base.read(call) { (reader) throws(KeychainError) in
            try body(Reader(base: reader, watcher: watcher, call: call))
        }
    }

    package func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try watcher.pass(.write, call)
        return try base.write(call) { (writer) throws(KeychainError) in
            try body(Writer(base: writer, watcher: watcher, call: call))
        }
    }

    package func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        try base.observeChanges(onChange)
    }

    package func lock(_ call: CallContext) throws(KeychainError) {
        if try !watcher.lock(call) { try base.lock(call) }
    }

    package func unlock(_ call: CallContext) throws(KeychainError) {
        if try !watcher.unlock(call) { try base.unlock(call) }
    }

    private struct Reader: RecordReader {
        let base: any RecordReader
        let watcher: any CallWatcher
        let call: CallContext

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try watcher.pass(.search(selection), call)
            return try base.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes {
            try watcher.pass(.value(record), call)
            return try base.value(of: record)
        }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            for record in records { try watcher.pass(.value(record), call) }
            return try base.values(of: records)
        }
    }

    private struct Writer: RecordWriter {
        let base: any RecordWriter
        let watcher: any CallWatcher
        let call: CallContext

        private var reader: Reader { Reader(base: base, watcher: watcher, call: call) }

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try reader.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try reader.value(of: record) }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            try reader.values(of: records)
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            try watcher.pass(.commit(mutations), call)
            try base.commit(mutations)
        }
    }
}
