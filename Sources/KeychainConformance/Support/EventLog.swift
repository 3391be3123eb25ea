// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Collects the changes that a sequence gives, so that a check can wait for one with a limit.
actor EventLog<Item: SecStorable> {
    private(set) var events: [KeychainChange<Item>] = []
    private(set) var failures: [KeychainError.Code] = []
    private(set) var hasEnded = false
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]

    /// Reads a sequence until its task is cancelled; goes on after an error.
    func follow(_ changes: KeychainChanges<Item>) async {
        var iterator = changes.makeAsyncIterator()
        while true {
            do {
                guard let change = try await iterator.next(isolation: self) else { break }
                events.append(change)
            } catch {
                failures.append(error.code)
            }
            wakeUp()
        }
        hasEnded = true
        wakeUp()
    }

    /// Waits until the log fulfils a condition; whether it did in time.
    func wait(_ patience: Duration, until condition: @Sendable (isolated EventLog) -> Bool) async -> Bool {
        let end = ContinuousClock.now + patience
        while !condition(self) {
            guard ContinuousClock.now < end else { return false }
            await nextEvent(before: end)
        }
        return true
    }

    private func nextEvent(before end: ContinuousClock.Instant) async {
        let id = UUID()
        let alarm = Task {
            // Not to be in step with anything: only so that a change which never comes fails the check.
            try? await Task.sleep(until: end)
            self.wake(id)
        }
        await withCheckedContinuation { waiters[id] = $0 }
        alarm.cancel()
    }

    private func wake(_ id: UUID) {
        waiters.removeValue(forKey: id)?.resume()
    }

    private func wakeUp() {
        for id in waiters.keys { wake(id) }
    }
}

extension KeychainChange where Value == GenericPassword {
    /// The kind of change and the service, as checks compare them.
    var summary: String {
        switch self {
        case .added(let info): "added \(info.service ?? "")"
        case .updated(let info): "updated \(info.service ?? "")"
        case .removed(let info): "removed \(info.service ?? "")"
        case .invalidated: "invalidated"
        }
    }
}

extension EventLog where Item == GenericPassword {
    /// The changes in words, without those that only say that something changed.
    var told: [String] { events.map(\.summary).filter { $0 != "invalidated" } }
}
