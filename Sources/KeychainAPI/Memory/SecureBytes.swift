// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// Bytes of a secret, kept out of swap and core dumps where the limits allow it, and erased on release.
///
/// The memory lies between inaccessible pages, a large secret's own or those of a group. It is locked (`mlock`) as far as
/// `RLIMIT_MEMLOCK` allows, excluded from core dumps (`MADV_DONTDUMP`), and overwritten before it is given back. Copies
/// of the value share it; it is never changed after it was made. Comparing takes a time that depends on the lengths
/// only. Nothing prints the bytes.
///
/// A `String` or `Data` made from it is ordinary memory: make one only where it is needed.
public struct SecureBytes: Sendable {
    private let storage: SecureStorage

    /// Makes a copy of bytes.
    ///
    /// - Parameter bytes: The bytes; erase your own copy.
    public init(_ bytes: some ContiguousBytes) {
        storage = bytes.withUnsafeBytes { source in
            SecureStorage(count: source.count) { target in
                if source.count > 0 { target.copyMemory(from: source) }
            }
        }
    }

    /// Makes bytes by writing them in place, so that no other copy exists.
    ///
    /// - Parameters:
    ///   - count: How many bytes, not negative.
    ///   - initialize: Writes the bytes; the memory is zero before.
    /// - Throws: What the closure throws.
    public init<Failure: Error>(
        count: Int,
        initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = try SecureStorage(count: count, initialize: initialize)
    }

    /// The bytes of several, one after the other.
    package init(joining parts: [SecureBytes]) {
        if parts.count == 1 {
            self = parts[0]
            return
        }
        self.init(count: parts.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for part in parts where !part.isEmpty {
                part.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0) }
                offset += part.count
            }
        }
    }

    /// The number of bytes.
    public var count: Int { storage.count }

    /// Whether there are none.
    public var isEmpty: Bool { storage.count == 0 }
}

extension SecureBytes: ContiguousBytes {
    /// Calls a closure with the bytes, valid only inside it.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        // The pointer does not keep the storage alive, which erases the bytes when it goes.
        try withExtendedLifetime(storage) { try body(storage.bytes) }
    }

    /// Calls a closure with the bytes, valid only inside it, and keeps the type of what it throws.
    ///
    /// - Parameter body: Reads the bytes.
    /// - Throws: What the closure throws.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withExtendedLifetime(storage) { () throws(Failure) in try body(storage.bytes) }
    }
}

extension SecureBytes: Equatable {
    /// Compares without telling by the time it takes where two secrets of equal length differ.
    public static func == (left: SecureBytes, right: SecureBytes) -> Bool {
        guard left.count == right.count else { return false }
        return left.withBytes { left in
            right.withBytes { right in
                var difference: UInt8 = 0
                for index in left.indices { difference |= left[index] ^ right[index] }
                return difference == 0
            }
        }
    }
}

extension SecureBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text; never the bytes.
    public var description: String { "<redacted>" }
    /// A fixed text; never the bytes.
    public var debugDescription: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
