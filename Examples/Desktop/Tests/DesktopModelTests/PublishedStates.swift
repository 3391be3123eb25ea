// SPDX-License-Identifier: MIT

import DesktopModel

/// The states that a model publishes, one after the other.
final class PublishedStates {
    private var states: AsyncStream<AccountsState>.Iterator
    private let continuation: AsyncStream<AccountsState>.Continuation

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: AccountsState.self)
        states = stream.makeAsyncIterator()
        self.continuation = continuation
    }

    /// What a model is given to publish its states.
    var publish: @Sendable (AccountsState) -> Void { { [continuation] in continuation.yield($0) } }

    /// The next state that satisfies a condition; nil when a test that waits in vain has come to its time limit.
    ///
    /// Not to be called inside of `#expect`: Swift 6.3.1 takes a closure there and one outside for the same.
    func next(where condition: (AccountsState) -> Bool) async -> AccountsState? {
        while let state = await states.next(isolation: #isolation) { if condition(state) { return state } }
        return nil
    }
}
