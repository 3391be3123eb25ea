// SPDX-License-Identifier: MIT

public import FoundationEssentials
import Glibc

/// Random bytes from the system's cryptographic source, getentropy(3).
public struct SecureRandomDataGenerator: RandomDataGenerator {
    /// How many bytes each call gives.
    public let count: Int

    /// Makes a generator.
    ///
    /// - Parameter count: How many bytes each call gives.
    /// - Throws: `invalidParameter` for a negative number.
    public init(count: Int) throws(KeychainError) {
        guard count >= 0 else {
            throw KeychainError(.invalidParameter, "The number of random bytes cannot be negative.")
        }
        self.count = count
    }

    /// The next bytes.
    ///
    /// - Throws: `internal` if the system has no random bytes.
    public mutating func next() throws(KeychainError) -> Data {
        var data = Data(count: count)
        let complete = data.withUnsafeMutableBytes { bytes in
            var filled = 0
            while filled < bytes.count {
                // getentropy(3) gives at most 256 bytes a call, and gives them whole.
                let step = min(256, bytes.count - filled)
                guard getentropy(bytes.baseAddress! + filled, step) == 0 else { return false }
                filled += step
            }
            return true
        }
        guard complete else {
            throw KeychainError(.internal, "The system gave no random bytes (getentropy).")
        }
        return data
    }
}
