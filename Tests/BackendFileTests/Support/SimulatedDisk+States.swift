// SPDX-License-Identifier: MIT
#if File
    import Foundation

    /// How many of the possible states of a disk are looked at.
    enum Depth {
        /// A sample that takes a minute at most.
        case bounded
        /// All of them (`KEYCHAIN_TEST_DEPTH=full`).
        case full

        /// What the environment asks for.
        static let current: Depth =
            ProcessInfo.processInfo.environment["KEYCHAIN_TEST_DEPTH"] == "full" ? .full : .bounded
    }

    /// What a power cut may leave of something, and how it came about.
    struct Outcome<Left> {
        let left: Left
        let story: String
    }

    extension SimulatedDisk.Content {
        /// The names that a power cut may leave: any part of what was not flushed, in any order.
        var possibleEntries: [Outcome<[String: Int]>] {
            Selection.all(of: pendingEntries.count).map { selection in
                var entries = durableEntries
                for (number, change) in pendingEntries.enumerated() where selection.contains(number) {
                    change.apply(to: &entries)
                }
                return Outcome(left: entries, story: "names \(selection.kept) of \(pendingEntries.count)")
            }
        }
    }

    extension SimulatedDisk.Inode {
        /// The contents that a power cut may leave: any part of what was not flushed, in any order, one write torn.
        func possibleContents(_ depth: Depth) -> [Outcome<[UInt8]>] {
            let whole = Selection.all(of: pending.count)
            var outcomes = whole.map { selection in
                Outcome(left: contents(selection), story: "changes \(selection.kept) of \(pending.count)")
            }
            for torn in pending.indices {
                let others =
                    pending.count <= 3
                    ? whole : [Selection(kept: Array(0..<torn)), Selection(kept: Array(pending.indices))]
                for tear in pending[torn].tears(depth) {
                    for selection in others where pending.count > 3 || selection.contains(torn) {
                        let left = contents(selection, tearing: torn, tear)
                        let story = "changes \(selection.kept) of \(pending.count), \(torn) torn: \(tear)"
                        outcomes.append(Outcome(left: left, story: story))
                    }
                }
            }
            return outcomes
        }

        private func contents(_ selection: Selection, tearing torn: Int? = nil, _ tear: Tear = .none) -> [UInt8] {
            var bytes = durable
            for (number, change) in pending.enumerated() where number == torn || selection.contains(number) {
                if number == torn { change.apply(to: &bytes, tear) } else { change.apply(to: &bytes) }
            }
            return bytes
        }
    }

    /// Which of several changes reached the disk.
    private struct Selection: Equatable {
        let kept: [Int]

        func contains(_ number: Int) -> Bool { kept.contains(number) }

        /// Every selection of at most five; of more, none, all, every prefix, and all but one.
        static func all(of count: Int) -> [Selection] {
            guard count > 5 else {
                return (0..<(1 << count)).map { mask in Selection(kept: (0..<count).filter { mask >> $0 & 1 == 1 }) }
            }
            let prefixes = (0...count).map { Selection(kept: Array(0..<$0)) }
            let others = (0..<count).map { dropped in Selection(kept: (0..<count).filter { $0 != dropped }) }
            return prefixes + others
        }
    }

    /// What is left of a write that the power cut interrupted.
    enum Tear: Equatable {
        /// All of it.
        case none
        /// The bytes before a place, and no more.
        case before(Int)
        /// The bytes before a place; what is behind it and new has zeros.
        case upTo(Int)
        /// The bytes from a place on; what is before it and new has zeros.
        case from(Int)
        /// The length alone, with zeros for what is new.
        case zeros
    }

    extension SimulatedDisk.Change {
        /// The ways in which it can be torn: at each sector, in the middle, and to a length without data.
        fileprivate func tears(_ depth: Depth) -> [Tear] {
            guard case .write(let bytes, let start) = self else { return [] }
            let sector = 512
            let first = (start / sector + 1) * sector
            var places = stride(from: first, to: start + bytes.count, by: sector).map { $0 - start }
            if depth == .bounded { places = Array(places.prefix(1)) }
            places.append(bytes.count / 2)
            return places.flatMap { [.before($0), .upTo($0), .from($0)] } + [.zeros]
        }

        fileprivate func apply(to bytes: inout [UInt8], _ tear: Tear) {
            guard case .write(let written, let start) = self else { return apply(to: &bytes) }
            let zeros = [UInt8](repeating: 0, count: max(0, start + written.count - bytes.count))
            switch tear {
            case .none: apply(to: &bytes)
            case .before(let place): Self.write(Array(written[..<place]), at: start).apply(to: &bytes)
            case .upTo(let place):
                bytes += zeros
                Self.write(Array(written[..<place]), at: start).apply(to: &bytes)
            case .from(let place):
                bytes += zeros
                Self.write(Array(written[place...]), at: start + place).apply(to: &bytes)
            case .zeros: bytes += zeros
            }
        }
    }
#endif
