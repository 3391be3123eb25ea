// SPDX-License-Identifier: MIT

import KeychainAPI

extension CommandRun {
    /// `watch`: prints changes as they happen, until it is interrupted or its time is over.
    func watch() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        guard selector.itemClass != .identity else {
            throw KeychainError(
                .unsupported,
                "An identity is not stored itself: watch its certificate (--class certificate) or its key (--class key)."
            )
        }
        let settings = try settings()
        let store = try open(settings, creation: .never)
        var selections: [RecordSelection] = []
        for itemClass in selector.classes {
            selections.append(try selection(selector, as: itemClass.itemType, store.keychain))
        }
        let changes = try await store.keychain.recordChanges(selections)
        if isTalkative { note("watching \(store.keychain.location)") }
        let task = Task { () async -> Result<Void, KeychainError> in
            do throws(KeychainError) { return .success(try await follow(changes)) } catch { return .failure(error) }
        }
        let alarm = Task {
            guard let deadline = settings.deadline else { return }
            // Woken before its time, it is because the watching has ended: to end it again does nothing.
            try? await Task.sleep(until: deadline)
            // To watch for some time is to be done when it is over, not to have failed.
            task.cancel()
        }
        defer { alarm.cancel() }
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
        return .done
    }

    /// What a selector selects of one class.
    func selection<Item: SecItem>(
        _ selector: Selector,
        as type: Item.Type,
        _ keychain: Keychain
    ) throws(KeychainError) -> RecordSelection {
        try keychain.watched(selector.query(of: type))
    }

    /// Prints changes until the task is cancelled.
    private func follow(_ changes: RecordChanges) async throws(KeychainError) {
        var iterator = RecordChanges.Iterator(changes)
        var lastFailure: KeychainError.Code?
        while !Task.isCancelled {
            do throws(KeychainError) {
                guard let change = try await iterator.next() else { return }
                lastFailure = nil
                try io.print(try line(change))
            } catch {
                // What passes by itself is waited for: what happened meanwhile is told as soon as it is seen.
                guard [.interactionNotAllowed, .unavailable, .timedOut, .busy].contains(error.code) else { throw error }
                if error.code != lastFailure { note(error.message) }
                lastFailure = error.code
                // Cancelled, the loop ends at its next look.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func line(_ change: RecordChanges.Change) throws(KeychainError) -> String {
        let (word, record): (String, ItemRecord?) =
            switch change {
            case .added(let record): ("added", record)
            case .updated(let record): ("updated", record)
            case .removed(let record): ("removed", record)
            case .invalidated: ("invalidated", nil)
            }
        let details = record.map(ItemDetails.init)
        if wantsJSON {
            return try JSONLine.line((details.map(JSONLine.object) ?? [:]).merging(["change": .text(word)]) { $1 })
        }
        return TextTable.tabSeparated([[word] + (details?.fields ?? [])])
    }
}
