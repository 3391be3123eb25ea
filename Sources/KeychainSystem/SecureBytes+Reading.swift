// SPDX-License-Identifier: MIT

package import KeychainAPI

extension SecureBytes {
    /// Reads to the end of something, in pieces that grow: locked memory is scarce, and most secrets are short.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that are of use.
    ///   - beginning: What has been read already.
    ///   - read: Reads some bytes, and returns how many; 0 at the end.
    /// - Returns: All bytes, or nil if there are more than the limit.
    /// - Throws: What the closure throws.
    package static func reading(
        atMost limit: Int,
        after beginning: SecureBytes? = nil,
        _ read: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
    ) throws(KeychainError) -> SecureBytes? {
        var pieces = [beginning].compactMap { $0 }
        var total = beginning?.count ?? 0
        var size = 4096
        while true {
            let piece = try reading(size, read)
            total += piece.count
            guard total <= limit else { return nil }
            pieces.append(piece)
            // A shorter piece is the last one.
            if piece.count < size { return SecureBytes(joining: pieces) }
            size = min(size * 2, 4 * 1024 * 1024)
        }
    }

    /// Reads a number of bytes, or fewer at the end.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - read: Reads some bytes, and returns how many; 0 at the end.
    /// - Throws: What the closure throws.
    package static func reading(
        _ size: Int,
        _ read: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
    ) throws(KeychainError) -> SecureBytes {
        var count = 0
        let buffer = try SecureBytes(count: size) { (bytes: UnsafeMutableRawBufferPointer) throws(KeychainError) in
            while count < bytes.count {
                let got = try read(UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
                if got == 0 { break }
                count += got
            }
        }
        if count == size { return buffer }
        return buffer.withBytes { SecureBytes(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}
