// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// A source of random bytes.
public protocol RandomDataGenerator: Sendable {
    /// The next bytes.
    ///
    /// - Throws: `internal` if the source failed.
    mutating func next() throws(KeychainError) -> Data
}
