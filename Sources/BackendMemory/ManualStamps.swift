// SPDX-License-Identifier: MIT

public import FoundationEssentials
public import KeychainAPI
import Synchronization

/// A clock that a test moves, and references that a test can predict.
public final class ManualStamps: Sendable {
    private let state: Mutex<(now: ItemDate, references: UInt64)>

    /// Makes stamps that begin at a moment.
    ///
    /// - Parameter date: The present moment, until ``advance(by:)``.
    public init(at date: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        state = Mutex((ItemDate(date), 0))
    }

    /// Moves the clock.
    ///
    /// - Parameter duration: How far, in microseconds at least; negative goes back.
    public func advance(by duration: Duration) {
        let step = Int64((duration / .microseconds(1)).rounded())
        state.withLock { $0.now = ItemDate(microseconds: $0.now.microseconds + step) }
    }

    /// The stamps as a driver takes them.
    ///
    /// References count up from 00000000-0000-4000-8000-000000000001.
    public var source: StampSource {
        StampSource(now: { self.state.withLock { $0.now } }, makeReference: nextReference)
    }

    private func nextReference() -> UUID {
        let number = state.withLock { state in
            state.references += 1
            return state.references
        }
        let digits = String(number, radix: 16, uppercase: true)
        let text = "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
        return UUID(uuidString: text) ?? UUID()
    }
}
