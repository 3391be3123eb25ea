// SPDX-License-Identifier: MIT
#if File

    /// Finds numbers by hashes, without keeping the keys: whoever asks compares them.
    ///
    /// A slot is half of the hash and the number, so that a table of many items is a few megabytes without pointers.
    /// Different keys may have one hash, and a key may have several numbers.
    struct HashTable: Sendable {
        /// The upper half of the hash, and the number plus one; 0 for an empty slot.
        private var slots: [UInt64] = [0, 0]
        /// A byte of the hash for each slot, 0 for an empty one: to find that something is not there, which is most of
        /// what is asked while a store is opened, this small array is enough.
        private var marks: [UInt8] = [0, 0]
        private var count = 0

        /// The slot at which the search for a hash begins: its upper bits, so that growing moves slots a little only.
        private func home(_ slot: UInt64) -> Int { Int(slot >> UInt64(64 - slots.count.trailingZeroBitCount)) }

        private static func slot(_ hash: UInt64, _ number: Int) -> UInt64 {
            hash & 0xFFFF_FFFF_0000_0000 | UInt64(truncatingIfNeeded: number + 1)
        }

        private static func mark(_ hash: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: hash >> 32) | 1 }

        private static func number(_ slot: UInt64) -> Int { Int(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1 }

        /// The first number of a hash that is the right one.
        ///
        /// - Complexity: O(1).
        func first<Failure: Error>(
            _ hash: UInt64,
            where isRight: (Int) throws(Failure) -> Bool
        ) throws(Failure) -> Int? {
            var position = home(hash)
            let mark = Self.mark(hash)
            while marks[position] != 0 {
                if marks[position] == mark {
                    let slot = slots[position]
                    if (slot ^ hash) >> 32 == 0, try isRight(Self.number(slot)) { return Self.number(slot) }
                }
                position = (position + 1) & (slots.count - 1)
            }
            return nil
        }

        /// Adds a number.
        ///
        /// - Returns: Whether another one with the hash is there, or perhaps so.
        @discardableResult
        mutating func insert(_ hash: UInt64, _ number: Int) -> Bool {
            precondition(number < Int(UInt32.max), "A store holds up to 4 billion items")
            reserve(count + 1)
            count += 1
            return put(Self.slot(hash, number))
        }

        /// Makes room for so many numbers in all.
        mutating func reserve(_ capacity: Int) {
            guard capacity * 4 > slots.count * 3 else { return }
            var size = slots.count * 2
            while capacity * 4 > size * 3 { size *= 2 }
            resize(to: size)
        }

        /// Removes a number that is there.
        mutating func remove(_ hash: UInt64, _ number: Int) {
            let wanted = Self.slot(hash, number)
            var hole = home(hash)
            while slots[hole] != wanted {
                guard slots[hole] != 0 else { return }
                hole = (hole + 1) & (slots.count - 1)
            }
            empty(hole)
            count -= 1
            // Whatever comes behind the hole and would be found no more moves into it.
            var position = (hole + 1) & (slots.count - 1)
            while slots[position] != 0 {
                let distance = (position - home(slots[position])) & (slots.count - 1)
                if distance >= (position - hole) & (slots.count - 1) {
                    fill(hole, slots[position])
                    empty(position)
                    hole = position
                }
                position = (position + 1) & (slots.count - 1)
            }
        }

        /// Fills the first free slot from home on; true if one on the way has the same hash.
        @discardableResult
        private mutating func put(_ slot: UInt64) -> Bool {
            var position = home(slot)
            let mark = Self.mark(slot)
            var isShared = false
            while marks[position] != 0 {
                if marks[position] == mark, (slots[position] ^ slot) >> 32 == 0 { isShared = true }
                position = (position + 1) & (slots.count - 1)
            }
            fill(position, slot)
            return isShared
        }

        private mutating func fill(_ position: Int, _ slot: UInt64) {
            slots[position] = slot
            marks[position] = Self.mark(slot)
        }

        private mutating func empty(_ position: Int) {
            slots[position] = 0
            marks[position] = 0
        }

        private mutating func resize(to size: Int) {
            let old = slots
            slots = [UInt64](repeating: 0, count: size)
            marks = [UInt8](repeating: 0, count: size)
            for slot in old where slot != 0 { put(slot) }
        }
    }
#endif
