// SPDX-License-Identifier: MIT

package import KeychainAPI
import Synchronization

/// The driver behind ``Keychain/default``: it chooses a store at the first call, and stays with it.
///
/// The choice is written down (``RememberedStore``) with the first write, not before: who only looks leaves no trace.
package final class DefaultDriver: KeychainDriver {
    private let registry: DriverRegistry
    private let environment: [String: String]
    private let options: StoreOptions
    private let remembered: RememberedStore
    private let chosen = Mutex<Chosen?>(nil)

    private struct Chosen {
        let driver: any KeychainDriver
        let url: StoreURL
        /// Whether the choice has yet to be written down.
        var isNew: Bool
    }

    /// Makes the driver; nothing is chosen yet.
    ///
    /// - Parameters:
    ///   - registry: The drivers to choose from.
    ///   - environment: Where variables are looked up.
    ///   - options: How the chosen store is opened.
    package init(
        registry: DriverRegistry,
        environment: [String: String],
        options: StoreOptions = StoreOptions(creation: .ifMissing)
    ) {
        self.registry = registry
        self.environment = environment
        self.options = options
        remembered = RememberedStore(environment: environment)
    }

    /// The driver of the store that was chosen, or is chosen now.
    package var chosenDriver: any KeychainDriver {
        get throws(KeychainError) { try choose().driver }
    }

    private var current: (any KeychainDriver)? { chosen.withLock { $0?.driver } }

    package var identifier: DriverIdentifier { current?.identifier ?? "default" }
    package var location: String { (try? choose().driver.location) ?? "default:" }
    package var capabilities: DriverCapabilities { (try? choose().driver.capabilities) ?? [] }
    package var maximumValueSize: Int { (try? choose().driver.maximumValueSize) ?? .max }
    package var stamps: StampSource { current?.stamps ?? .system }

    package func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try choose().driver.read(call, body)
    }

    package func write<Result>(
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

    package func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        try choose().driver.observeChanges(onChange)
    }

    package func lock(_ call: CallContext) throws(KeychainError) {
        try choose().driver.lock(call)
    }

    package func unlock(_ call: CallContext) throws(KeychainError) {
        try choose().driver.unlock(call)
    }

    /// Says which store would be chosen, and why; opens and writes nothing.
    ///
    /// - Parameters:
    ///   - registry: The drivers to choose from.
    ///   - environment: Where variables are looked up.
    /// - Throws: Why there is none.
    package static func choose(
        registry: DriverRegistry,
        environment: [String: String]
    ) throws(KeychainError) -> DriverRegistry.Choice {
        try choice(registry, environment, RememberedStore(environment: environment)).choice
    }

    /// Creates the store that would be chosen, and stays with it from then on.
    ///
    /// - Parameters:
    ///   - registry: The drivers to choose from.
    ///   - environment: Where variables are looked up.
    ///   - options: How the store is created.
    /// - Throws: `duplicateItem` if it exists, and why it could not be created.
    package static func create(
        registry: DriverRegistry,
        environment: [String: String],
        options: StoreOptions
    ) throws(KeychainError) -> any KeychainDriver {
        let remembered = RememberedStore(environment: environment)
        let (choice, _, isNew) = try choice(registry, environment, remembered)
        guard isNew else { return try registry.open(choice.url, options: options) }
        let driver = try registry.open(choice.url, options: options)
        // One lock after the other, never one inside the other: a first write takes them in the opposite order.
        try remembered.remember(choice.url, CallContext(.open, timeout: options.timeout)) {}
        return driver
    }

    private func choose() throws(KeychainError) -> Chosen {
        try chosen.withLock { chosen throws(KeychainError) in
            if let chosen { return chosen }
            let (choice, isRemembered, isNew) = try Self.choice(registry, environment, remembered)
            var options = options
            // Once items have been stored in a file, a file that is missing is an error, never an empty new one.
            if isRemembered { options.creation = .never }
            let driver = try registry.open(choice.url, options: options)
            let new = Chosen(driver: driver, url: choice.url, isNew: isNew)
            chosen = new
            return new
        }
    }

    private static func choice(
        _ registry: DriverRegistry,
        _ environment: [String: String],
        _ remembered: RememberedStore
    ) throws(KeychainError) -> (choice: DriverRegistry.Choice, isRemembered: Bool, isNew: Bool) {
        // A store that is named needs no memory, and must not fail for one that cannot be read.
        let isNamed = !(environment["KEYCHAIN_STORE"] ?? "").isEmpty
        let past = isNamed ? try? remembered.recall() : try remembered.recall()
        let choice = try registry.choose(environment: environment, remembered: past)
        return (choice, past == choice.url, !isNamed && past == nil)
    }
}
