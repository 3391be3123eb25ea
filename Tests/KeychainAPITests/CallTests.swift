// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization
import Testing

@Suite struct CallContextTests {
    private func code(_ call: CallContext) -> KeychainError.Code? {
        do throws(KeychainError) {
            try call.check()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func withoutADeadlineItMayGoOn() {
        let call = CallContext(.store)
        #expect(code(call) == nil)
        #expect(call.deadline == nil && call.remaining == nil && !call.isCancelled)
        #expect(call.interaction == .allowed && call.operation == .store)
    }

    @Test func afterItsDeadlineItEnds() {
        let call = CallContext(.retrieve, timeout: .zero)
        #expect(code(call) == .timedOut)
        #expect(call.remaining == .zero)
        #expect(code(CallContext(.retrieve, timeout: .seconds(-5))) == .timedOut)
        #expect(CallContext(.retrieve, timeout: .seconds(-5)).remaining == .zero)
        let long = CallContext(.retrieve, timeout: .seconds(3600))
        #expect(code(long) == nil)
        #expect(long.remaining.map { $0 > .seconds(3500) && $0 <= .seconds(3600) } == true)
        #expect(code(CallContext(.retrieve, timeout: .seconds(Int64.max))) == nil)
    }

    @Test func afterCancellationItEnds() {
        let call = CallContext(.retrieve, timeout: .zero)
        call.cancel()
        call.cancel()
        #expect(call.isCancelled)
        #expect(code(call) == .cancelled, "Before the deadline, which is over too.")
    }

    @Test func listingDoesNotAskToUnlock() {
        #expect(CallContext(.retrieve).allowsUnlockPrompt)
        #expect(!CallContext(.info).allowsUnlockPrompt)
        #expect(!CallContext(.retrieve, interaction: .never).allowsUnlockPrompt)
    }

    @Test func aHandlerIsCalledOnceAtOnce() throws {
        let call = CallContext(.store)
        let count = Mutex(0)
        try call.withCancellationHandler({ count.withLock { $0 += 1 } }) { () throws(KeychainError) in
            #expect(count.withLock { $0 } == 0)
            call.cancel()
            #expect(count.withLock { $0 } == 1)
            call.cancel()
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test func aHandlerOfACancelledCallIsCalledBefore() throws {
        let call = CallContext(.store)
        call.cancel()
        let count = Mutex(0)
        try call.withCancellationHandler({ count.withLock { $0 += 1 } }) { () throws(KeychainError) in
            #expect(count.withLock { $0 } == 1)
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test func aHandlerIsGoneAfterItsBody() throws {
        let call = CallContext(.store)
        let count = Mutex(0)
        let result = try call.withCancellationHandler({ count.withLock { $0 += 1 } }) { () throws(KeychainError) in 7 }
        #expect(result == 7)
        #expect(throws: KeychainError.Code.io.error) {
            try call.withCancellationHandler({ count.withLock { $0 += 1 } }) { () throws(KeychainError) in
                throw KeychainError(.io, "x")
            }
        }
        call.cancel()
        #expect(count.withLock { $0 } == 0)
    }

    @Test func handlersMayNestAndMayUseTheCall() throws {
        let call = CallContext(.store)
        let order = Mutex<[String]>([])
        try call.withCancellationHandler({ order.withLock { $0.append("outer") } }) { () throws(KeychainError) in
            // A handler runs without the context's lock: asking the context is allowed.
            let inner = { @Sendable in
                #expect(call.isCancelled)
                order.withLock { $0.append("inner") }
            }
            try call.withCancellationHandler(inner) { () throws(KeychainError) in call.cancel() }
        }
        #expect(Set(order.withLock { $0 }) == ["outer", "inner"])
    }

    @Test func whatAHandlerHoldsMayUseTheCallWhenItGoes() throws {
        final class Nosy: Sendable {
            let call: CallContext
            init(_ call: CallContext) { self.call = call }
            deinit { _ = call.isCancelled }
        }
        let call = CallContext(.store)
        // The handler's own copy is the last one: it goes when the handler is taken out.
        func handler() -> @Sendable () -> Void {
            let nosy = Nosy(call)
            return { _ = nosy.call }
        }
        try call.withCancellationHandler(handler()) { () throws(KeychainError) in }
    }

    @Test func cancellingRacesWithEnding() async throws {
        for _ in 0..<500 {
            let call = CallContext(.store)
            let count = Mutex(0)
            async let cancelled: Void = { call.cancel() }()
            try call.withCancellationHandler({ count.withLock { $0 += 1 } }) { () throws(KeychainError) in }
            await cancelled
            #expect(count.withLock { $0 } <= 1)
        }
    }

    @Test func anObservationEndsOnce() {
        let count = Mutex(0)
        var observation: ChangeObservation? = ChangeObservation { count.withLock { $0 += 1 } }
        observation?.cancel()
        observation?.cancel()
        observation = nil
        #expect(count.withLock { $0 } == 1)
        observation = ChangeObservation { count.withLock { $0 += 1 } }
        observation = nil
        #expect(count.withLock { $0 } == 2)
    }
}

/// A store whose calls stand at a gate until it is opened.
private final class Gate: KeychainDriver, @unchecked Sendable {
    let identifier: DriverIdentifier = "gate"
    let location = "gate:\(UUID().uuidString)"
    let capabilities: DriverCapabilities = []
    let maximumValueSize = 1 << 20
    let condition = NSCondition()
    private(set) var arrived = 0
    private var isOpen = false

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        condition.lock()
        arrived += 1
        while !isOpen { condition.wait() }
        condition.unlock()
        return try body(Nothing())
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result { throw KeychainError(.readOnly, "x") }

    func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }

    func waitUntilArrived(_ count: Int) async {
        while condition.withLock({ arrived }) < count { await Task.yield() }
    }

    private struct Nothing: RecordReader {
        func records(_ selection: RecordSelection) -> [ItemRecord] { [] }
        func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { throw .itemNotFound }
    }
}

@Suite struct AsynchronousCallTests {
    private let query = SecItemQuery<GenericPassword>.credential(for: "s")

    /// With libdispatch's pool this takes a second for each waiting call.
    @Test(.timeLimit(.minutes(1))) func manyWaitingCallsDoNotHoldUpAnother() async throws {
        let gate = Gate()
        let other = Keychain(driver: MemoryDriver())
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { [query] in try await Keychain(driver: gate).contains(query) } }
            await gate.waitUntilArrived(100)
            try await other.store("x", query: query)
            #expect(try await other.retrieve(query) == "x")
            gate.open()
            for try await found in group { #expect(!found) }
        }
    }

    /// In a process of its own, since it takes every thread that there is for calls.
    @Test func aCallThatHasNotBegunEndsWhenItIsCancelledOrLate() async {
        await #expect(processExitsWith: .success) {
            let gate = Gate()
            let query = SecItemQuery<GenericPassword>.credential(for: "s")
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<256 { group.addTask { try await Keychain(driver: gate).contains(query) } }
                await gate.waitUntilArrived(256)
                let late = Task { try await Keychain(driver: MemoryDriver()).contains(query) }
                late.cancel()
                await #expect(throws: KeychainError(.cancelled, "")) { _ = try await late.value }
                let hasty = Keychain(driver: MemoryDriver(), timeout: .milliseconds(50))
                await #expect(throws: KeychainError(.timedOut, "")) { _ = try await hasty.contains(query) }
                let patient = Task { try await Keychain(driver: MemoryDriver()).contains(query) }
                gate.open()
                #expect(try await patient.value == false)
                for try await found in group { #expect(!found) }
            }
        }
    }

    @Test func aCancelledTaskDoesNotReachTheStore() async {
        let driver = MemoryDriver()
        let task = Task { [query] in
            while !Task.isCancelled { await Task.yield() }
            try await Keychain(driver: driver).store("x", query: query)
        }
        task.cancel()
        await #expect(throws: KeychainError.Code.cancelled.error) { try await task.value }
        #expect(driver.callCount == 0)
    }

    @Test func everyVerbIsCancelledWhileItWaits() async throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver)
        driver.inject(.slow(.seconds(3600)))
        var changes = SecItemUpdate<GenericPassword>()
        changes.label = "l"
        let verbs: [@Sendable () async throws -> Void] = [
            { [query] in try await keychain.store("x", query: query) },
            { [query] in _ = try await keychain.store("x", returning: .all, query: query) },
            { [query, changes] in try await keychain.update(query, changes) },
            { [query] in _ = try await keychain.retrieve(query) as String? },
            { [query] in _ = try await keychain.retrieve(.info, query: query) },
            { [query] in _ = try await keychain.retrieveAll(query: query) },
            { [query] in _ = try await keychain.info(for: query) },
            { [query] in _ = try await keychain.infoAll(for: query) },
            { [query] in _ = try await keychain.contains(query) },
            { [query] in try await keychain.remove(query) },
            { try await keychain.removeAll() },
            { try await keychain.removeAll(of: GenericPassword.self) },
            { [query] in try await keychain.copy(query, to: Keychain(driver: MemoryDriver())) },
            { [query] in try await keychain.move(query, to: Keychain(driver: MemoryDriver())) },
            { try await keychain.transaction { _ in } },
            { [query] in _ = try await keychain.changes(matching: query) },
        ]
        for (index, verb) in verbs.enumerated() {
            let task = Task { try await verb() }
            while driver.callCount <= index { await Task.yield() }
            task.cancel()
            let error = await #expect(throws: KeychainError.self) { try await task.value }
            #expect(error?.code == .cancelled, "Verb \(index)")
            #expect(error?.location == driver.location, "Verb \(index)")
        }
    }

    @Test func everyVerbHasADeadline() async throws {
        let driver = MemoryDriver()
        let keychain = Keychain(driver: driver, timeout: .milliseconds(20))
        driver.inject(.slow(.seconds(3600)))
        await #expect(throws: KeychainError.Code.timedOut.error) { try await keychain.store("x", query: query) }
        let synchronous = { () throws(KeychainError) in try keychain.remove(self.query) }
        #expect(throws: KeychainError.Code.timedOut.error) { try synchronous() }
    }
}
