// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc

/// The memory behind ``SecureBytes``.
///
/// Unchecked because of the pointer: the bytes are written before the initializer returns and only read after.
final class SecureStorage: @unchecked Sendable {
    private let block: SecurePool.Block
    let count: Int

    init<Failure: Error>(
        count: Int,
        initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(count >= 0, "A secret cannot have a negative size")
        let block = SecurePool.shared.allocate(count)
        do {
            try initialize(UnsafeMutableRawBufferPointer(start: block.address, count: count))
        } catch {
            SecurePool.shared.release(block)
            throw error
        }
        self.block = block
        self.count = count
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: block.address, count: count) }

    deinit {
        SecurePool.shared.release(block)
    }
}
