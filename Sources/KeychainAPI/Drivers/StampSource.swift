// SPDX-License-Identifier: MIT

public import Foundation

/// Where the dates and persistent references of items come from, so that tests can decide both.
public struct StampSource: Sendable {
    /// The present moment.
    public let now: @Sendable () -> ItemDate
    /// A reference that no other item has.
    public let makeReference: @Sendable () -> UUID

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - now: Gives the present moment.
    ///   - makeReference: Gives a reference that no other item has.
    public init(now: @escaping @Sendable () -> ItemDate, makeReference: @escaping @Sendable () -> UUID) {
        self.now = now
        self.makeReference = makeReference
    }

    /// The system's clock and random references (UUID version 4, RFC 9562).
    public static let system = StampSource(now: { ItemDate(Date()) }, makeReference: { UUID() })
}
