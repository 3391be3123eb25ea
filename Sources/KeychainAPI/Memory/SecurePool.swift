// SPDX-License-Identifier: MIT

import Glibc
import Synchronization

/// Hands out guarded memory in blocks.
///
/// A mapping of its own for each small secret would cost several system calls and, in a list of many thousand items,
/// run into the limit on mappings (`vm.max_map_count`). So blocks up to a page come from larger regions, sorted by
/// size; anything larger has a mapping of its own, which goes back to the system at once. Past a number of those they
/// go without inaccessible pages around them, so that the system can join neighbours to one mapping.
final class SecurePool: Sendable {
    static let shared = SecurePool()

    /// A piece of guarded memory.
    ///
    /// Unchecked because of the pointer: a block is owned by exactly one storage.
    struct Block: @unchecked Sendable {
        let address: UnsafeMutableRawPointer
        let size: Int
        /// The inaccessible bytes before and after the block, if it has a mapping of its own.
        var guardSize = 0
    }

    private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    private static let largestRegion = 64 * 1024
    private static let largestPooled = 4096
    private static let smallestPooled = 32
    private static let maximumGuarded = 8192

    /// The blocks of one size.
    private struct Blocks {
        var free: [Block] = []
        /// How large the next region is: most programs have a few secrets, and locked memory is filled at once.
        var nextRegion = pageSize
    }

    /// The blocks of each size, the smallest first.
    private let blocks = Mutex([Blocks](repeating: Blocks(), count: sizeClass(of: largestPooled) + 1))
    private let guarded = Mutex(0)

    func allocate(_ count: Int) -> Block {
        let size = Self.blockSize(for: count)
        guard size <= Self.largestPooled else { return Self.map(size, guardSize: reserveGuards() ? Self.pageSize : 0) }
        let sizeClass = Self.sizeClass(of: size)
        return blocks.withLock { blocks in
            if let block = blocks[sizeClass].free.popLast() { return block }
            let region = Self.map(blocks[sizeClass].nextRegion, guardSize: Self.pageSize)
            blocks[sizeClass].nextRegion = min(2 * region.size, Self.largestRegion)
            var free = stride(from: 0, to: region.size, by: size).map { offset in
                Block(address: region.address + offset, size: size)
            }
            let block = free.removeLast()
            blocks[sizeClass].free = free
            return block
        }
    }

    func release(_ block: Block) {
        explicit_bzero(block.address, block.size)
        if block.size > Self.largestPooled {
            Self.unmap(block)
            if block.guardSize > 0 { guarded.withLock { $0 -= 1 } }
        } else {
            blocks.withLock { $0[Self.sizeClass(of: block.size)].free.append(block) }
        }
    }

    private func reserveGuards() -> Bool {
        guarded.withLock { count in
            guard count < Self.maximumGuarded else { return false }
            count += 1
            return true
        }
    }

    /// Which of the sizes it is, each twice the one before.
    private static func sizeClass(of size: Int) -> Int {
        size.trailingZeroBitCount - smallestPooled.trailingZeroBitCount
    }

    private static func blockSize(for count: Int) -> Int {
        var size = smallestPooled
        while size < count && size < largestPooled { size *= 2 }
        if size >= count { return size }
        return (count + pageSize - 1) / pageSize * pageSize
    }

    /// Maps `size` bytes (a multiple of the page size) between two areas that nobody may touch.
    private static func map(_ size: Int, guardSize: Int) -> Block {
        let whole = size + 2 * guardSize
        guard let start = mmap(nil, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else {
            // As Swift's own allocator does: a process without memory cannot go on, least of all with a secret.
            fatalError("Out of memory for \(size) bytes of a secret")
        }
        let address = start + guardSize
        guard mprotect(address, size, PROT_READ | PROT_WRITE) == 0 else {
            fatalError("Out of memory for \(size) bytes of a secret")
        }
        // Both are best effort: RLIMIT_MEMLOCK may be small, and a secret that may be swapped is better than none.
        // In this order: locking fills the pages, and the system joins only what is still empty to its neighbour.
        _ = madvise(address, size, Int32(MADV_DONTDUMP))
        _ = mlock(address, size)
        return Block(address: address, size: size, guardSize: guardSize)
    }

    private static func unmap(_ block: Block) {
        _ = munlock(block.address, block.size)
        _ = munmap(block.address - block.guardSize, block.size + 2 * block.guardSize)
    }
}
