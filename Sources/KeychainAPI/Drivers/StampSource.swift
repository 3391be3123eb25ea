// SPDX-License-Identifier: MIT

public import FoundationEssentials
import Glibc

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
    public static let system = StampSource(now: { ItemDate(Date()) }, makeReference: makeRandomReference)

    /// As Foundation's, which opens a device for each.
    @Sendable private static func makeRandomReference() -> UUID {
        var words: (UInt64, UInt64) = (0, 0)
        return withUnsafeMutableBytes(of: &words) { bytes in
            guard getentropy(bytes.baseAddress!, bytes.count) == 0 else { return UUID() }
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
