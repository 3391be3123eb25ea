// SPDX-License-Identifier: MIT

public import Foundation
import Glibc
import Synchronization

/// A small Secret Service that does wrong what it is told to.
///
/// Without a fault it does all that a store needs: sessions, in clear only, since it answers the request for an
/// encrypted one with an error of its own, as a KWallet without its plugin for encryption does; items, and locking with
/// a prompt. Its items outlast its process.
///
/// It is told by a socket of its own, not over the bus, which it may have left.
public final class FaultyService: SecretServer {
    /// What a method does instead of what it should.
    public enum Fault: String, Sendable, CaseIterable {
        /// The service's process ends, and is started again by the next order.
        case dies
        /// The service's process ends, and is started again at once.
        case restarts
        /// It never answers.
        case silent
        /// It answers with a number.
        case wrongType
        /// It answers with what has the right type and no sense, or stands for nothing.
        case nonsense
        /// It answers with very much of it.
        case huge
        /// It answers with as little as the type allows.
        case hollow
        /// It answers with `AccessDenied`.
        case denied
        /// It answers with an error that nobody knows.
        case odd
        /// It says that the item is locked.
        case isLocked
        /// It forgets every session.
        case noSession
        /// What it finds is gone before the next call.
        case vanishes
    }

    /// How a prompt ends.
    public enum PromptOutcome: String, Sendable, CaseIterable {
        case accept, dismiss, never, rubbish, die
    }

    /// An item as it lies in the service.
    public struct Item: Decodable, Sendable {
        /// The attributes.
        public let attributes: [String: String]
        /// What lies there for the value.
        public let secret: Data
    }

    /// What the service knows of itself.
    public struct Report: Decodable, Sendable {
        /// How many calls met a fault since the faults were last cleared.
        public let fired: Int
        /// The methods that were called since the last reset.
        public let log: [String]
        /// How many sessions are open.
        public let sessions: Int
        /// The items.
        public let items: [Item]
    }

    private struct Order: Encodable {
        var order: String
        var method: String?
        var kind: String?
        var isAfter: Bool?
        var isOnce: Bool?
        var prompt: String?
    }

    /// The bus.
    public let bus: PrivateBus
    private let process: ChildProcess
    /// The end of the socket at which it takes orders.
    private let control: Mutex<Int32>

    /// Its one collection.
    public var collection: String { "/org/freedesktop/secrets/collection/faulty" }

    /// Starts a bus and the service.
    ///
    /// - Parameter isGNOMEKeyring: Whether it has the name by which GNOME Keyring is known.
    /// - Throws: A ``FixtureError`` with what to install if Python or one of its modules is missing.
    public static func start(isGNOMEKeyring: Bool = false) throws -> FaultyService {
        let bus = try PrivateBus()
        let pipe = try Descriptors.makePipe()
        defer { close(pipe.writing) }
        let names = (isGNOMEKeyring ? ["org.gnome.keyring"] : []) + ["org.freedesktop.secrets"]
        let process: ChildProcess
        do {
            process = try ChildProcess(
                "python3",
                ["-c", script, bus.folder.appendingPathComponent("state.json").path] + names,
                bus.environment,
                input: pipe.writing,
                output: pipe.writing
            )
        } catch {
            close(pipe.reading)
            throw error
        }
        let service = FaultyService(bus, process, pipe.reading)
        try bus.waitForService("python3 with python3-dbus and python3-gi")
        return service
    }

    private init(_ bus: PrivateBus, _ process: ChildProcess, _ control: Int32) {
        self.bus = bus
        self.process = process
        self.control = Mutex(control)
    }

    deinit {
        process.end()
        control.withLock { _ = close($0) }
        bus.stop()
    }

    /// Lets one method misbehave, until the fault has happened once or is cleared.
    ///
    /// - Parameters:
    ///   - fault: What it does.
    ///   - method: The method.
    ///   - isAfter: Whether it does before what it should, rather than not at all.
    ///   - isOnce: Whether only one call meets the fault.
    public func inject(_ fault: Fault, into method: String, isAfter: Bool = false, isOnce: Bool) throws {
        try obey(
            Order(order: "fault", method: method, kind: fault.rawValue, isAfter: isAfter, isOnce: isOnce)
        )
    }

    /// Takes back every fault, and unlocks the collection.
    ///
    /// - Returns: What is there.
    @discardableResult
    public func clear() throws -> Report { try obey(Order(order: "clear")) }

    /// Makes the items that are there the ones that ``reset()`` restores.
    public func keep() throws { try obey(Order(order: "keep")) }

    /// Takes back everything since ``keep()``.
    public func reset() throws { try obey(Order(order: "reset")) }

    /// What is there.
    public func report() throws -> Report { try obey(Order(order: "report")) }

    /// Locks the collection, which opens by a prompt only.
    ///
    /// - Parameter outcome: How the prompt ends.
    public func lock(_ outcome: PromptOutcome) throws {
        try obey(Order(order: "lock", prompt: outcome.rawValue))
    }

    /// Locks the collection, which opens for who asks.
    public func lock() throws { try obey(Order(order: "lock", prompt: "")) }

    /// Unlocks the collection.
    public func unlock() throws { try clear() }

    @discardableResult
    private func obey(_ order: Order) throws -> Report {
        try control.withLock { control in
            let line = try JSONEncoder().encode(order) + [0x0A]
            guard line.withUnsafeBytes({ send(control, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) > 0,
                let answer = Descriptors.readLine(control)
            else { throw FixtureError("The service does not do what it is told: \(order).") }
            return try JSONDecoder().decode(Report.self, from: Data(answer.utf8))
        }
    }
}
