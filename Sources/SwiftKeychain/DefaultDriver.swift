// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Synchronization

/// The driver behind ``Keychain/default``: it chooses a store at the first call, and stays with it.
///
/// The choice is written down (``RememberedStore``) with the first write, not before: who only looks leaves no trace.
final class DefaultDriver: KeychainDriver {
    private let registry: DriverRegistry
    private let environment: [String: String]
    private let remembered: RememberedStore
    private let chosen = Mutex<Chosen?>(nil)

    private struct Chosen {
        let driver: any KeychainDriver
        let url: StoreURL
        /// Whether the choice has yet to be written down.
        var isNew: Bool
    }

    init(registry: DriverRegistry, environment: [String: String]) {
        self.registry = registry
        self.environment = environment
        remembered = RememberedStore(environment: environment)
    }

    private var current: (any KeychainDriver)? { chosen.withLock { $0?.driver } }

    var identifier: DriverIdentifier { current?.identifier ?? "default" }
    var location: String { (try? choose().driver.location) ?? "default:" }
    var capabilities: DriverCapabilities { (try? choose().driver.capabilities) ?? [] }
    var maximumValueSize: Int { (try? choose().driver.maximumValueSize) ?? .max }
    var stamps: StampSource { current?.stamps ?? .system }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try choose().driver.read(call, body)
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let choice = try choose()
        guard choice.isNew else { return try choice.driver.write(call, body) }
        return try choice.driver.write(call) { (writer) throws(KeychainError) in
            try body(FirstWriter(writer: writer, driver: self, url: choice.url, call: call))
        }
    }

    /// Writes the choice down with the first commit.
    private struct FirstWriter: RecordWriter {
        let writer: any RecordWriter
        let driver: DefaultDriver
        let url: StoreURL
        let call: CallContext

        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            try writer.records(selection)
        }

        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try writer.value(of: record) }

        func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
            try writer.values(of: records)
        }

        func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
            try driver.remembered.remember(url, call) { () throws(KeychainError) in try writer.commit(mutations) }
            driver.chosen.withLock { $0?.isNew = false }
        }
    }

    func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        try choose().driver.observeChanges(onChange)
    }

    private func choose() throws(KeychainError) -> Chosen {
        try chosen.withLock { chosen throws(KeychainError) in
            if let chosen { return chosen }
            let isNamed = !(environment["KEYCHAIN_STORE"] ?? "").isEmpty
            // A store that is named needs no memory, and must not fail for one that cannot be read.
            let past = isNamed ? try? remembered.recall() : try remembered.recall()
            let choice = try registry.choose(environment: environment, remembered: past)
            // Once items have been stored in a file, a file that is missing is an error, never an empty new one.
            let driver = try registry.open(
                choice.url,
                options: StoreOptions(creation: past == choice.url ? .never : .ifMissing)
            )
            let new = Chosen(driver: driver, url: choice.url, isNew: !isNamed && past == nil)
            chosen = new
            return new
        }
    }
}
