// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI

    /// What is known of the damage of a file, and which of its items can still be vouched for.
    ///
    /// A frame that cannot be opened may have added, changed or removed items. The frame behind it names those that it
    /// was about; where that one is damaged too, or they were too many to be named, it may have been any.
    struct Salvage: Sendable {
        /// What is wrong, in the order of the file; empty if nothing is.
        private(set) var damages: [FileDamage]
        /// The items of which there may have been a newer state, or a removal.
        private(set) var doubtful: Set<UUID> = []
        /// The items of which there is a record and no value.
        private(set) var valueless: [UUID: ItemRecord] = [:]
        /// Whether there may have been items that nothing is known of.
        private(set) var isIncomplete = false
        private let identity: FileIdentity
        private let length: UInt64
        private let modified: timespec

        /// Reads all of a file that is intact.
        ///
        /// - Throws: `unsupported` if a later version wrote to it, and what reading throws.
        /// - Complexity: O(n) in the size of the file.
        static func read(
            _ sealed: SealedFile,
            keys: StoreKeys
        ) throws(KeychainError) -> (OpenFile, RecordIndex, Salvage) {
            var file = try OpenFile(damaged: sealed, keys: keys)
            var index = RecordIndex()
            var salvage = Salvage(sealed, try file.file.status())
            var window = FileWindow(file.file, end: file.size)
            var scanner = FrameScanner(budget: 4 * file.size + UInt64(FileLayout.metadataLimit))
            while let frame = try scanner.next(in: file, &window) {
                salvage.pass(from: file, to: frame, index)
                try salvage.apply(frame, to: &index)
                file.advance(over: frame)
            }
            salvage.finish(file, index, senseless: scanner.senseless)
            return (file, index, salvage)
        }

        private init(_ sealed: SealedFile, _ status: stat) {
            damages = sealed.blemishes
            identity = FileIdentity(status)
            length = status.length
            modified = status.st_mtim
        }

        /// Whether a status is that of the file that was read.
        func isOf(_ status: stat) -> Bool {
            FileIdentity(status) == identity && status.length == length
                && status.st_mtim.tv_sec == modified.tv_sec && status.st_mtim.tv_nsec == modified.tv_nsec
        }

        /// What is said to who wants to write, or wants to know more than can be vouched for.
        var refusal: KeychainError {
            let more = damages.count > 1 ? " (and \(damages.count - 1) more)" : ""
            let first = damages.first.map { "\($0.finding), at byte \($0.offset)\(more)" } ?? ""
            return KeychainError(
                .corrupt,
                "The keychain file is damaged: \(first). It was left as it is. Restore it from a backup, or save what is "
                    + "intact into a new one: keychainctl check, keychainctl repair."
            )
        }

        /// The records that answer a question, if the answer can be vouched for.
        ///
        /// - Parameters:
        ///   - found: What the index has.
        ///   - selection: What was asked for.
        ///   - isForOneMatch: Whether one match is all that is asked for.
        /// - Throws: `corrupt` if there may be more, or others, than what was found.
        func vouched(
            _ found: [ItemRecord],
            for selection: RecordSelection,
            isForOneMatch: Bool
        ) throws(KeychainError) -> [ItemRecord] {
            guard isIncomplete || !doubtful.isEmpty || !valueless.isEmpty else { return found }
            let intact = found.filter { !doubtful.contains($0.reference) }
            guard isForOneMatch || selection.reference != nil || selection.isFullIdentity, !intact.isEmpty else {
                throw refusal
            }
            return intact
        }
    }

    extension Salvage {
        /// Notes what lies between what was read and the next frame.
        private mutating func pass(from file: OpenFile, to frame: Frame, _ index: RecordIndex) {
            guard frame.base != file.tip else { return }
            damages.append(
                FileDamage(
                    offset: file.tip.length,
                    count: frame.base.length - file.tip.length,
                    finding: frame.base.sequence == file.tip.sequence
                        ? "there is something between two records" : "a record is not the one that was written there"
                )
            )
            // Nothing is missing if it goes on exactly from what was read.
            if frame.base.sequence == file.tip.sequence, frame.base.chain == file.tip.chain { return }
            isIncomplete = true
            if frame.base.sequence == file.tip.sequence + 1, case .items(let touched) = frame.before {
                doubtful.formUnion(touched)
            } else {
                doubtEverything(index)
            }
        }

        private mutating func apply(_ frame: Frame, to index: inout RecordIndex) throws(KeychainError) {
            do {
                try index.check(frame)
                try index.apply(frame)
            } catch {
                if damages.isEmpty {
                    damages.append(
                        FileDamage(
                            offset: frame.base.length,
                            count: frame.tip.length - frame.base.length,
                            finding: "a record contradicts those before it"
                        )
                    )
                }
                for record in try index.force(frame) {
                    valueless[record.reference] = record
                    isIncomplete = true
                }
            }
            for operation in frame.operations where operation.kind != .change {
                doubtful.remove(operation.reference)
                valueless[operation.reference] = nil
            }
        }

        /// Compares what was read with what the mark promises.
        ///
        /// - Parameters:
        ///   - file: The file, read to its end.
        ///   - index: What was read.
        ///   - senseless: Where a frame is that is authentic and was passed over.
        private mutating func finish(_ file: OpenFile, _ index: RecordIndex, senseless: UInt64?) {
            // Behind the mark as well: no writer that was killed leaves such a frame, and none may cut it off.
            if let senseless, damages.isEmpty {
                damages.append(
                    FileDamage(offset: senseless, count: file.size - senseless, finding: "a record contradicts itself")
                )
                isIncomplete = true
                doubtEverything(index)
            }
            if file.hasMark, file.tip.sequence >= file.mark.tip.sequence {
                guard file.tip.sequence == file.mark.tip.sequence, file.tip.chain != file.mark.tip.chain else { return }
            }
            let isCut = file.hasMark && file.size < file.mark.tip.length
            damages.append(
                FileDamage(
                    offset: isCut ? file.size : file.hasMark ? file.tip.length : UInt64(FileLayout.marks[0]),
                    count: file.hasMark
                        ? max(file.mark.tip.length, file.size) - min(file.tip.length, file.mark.tip.length)
                        : UInt64(FileLayout.regionSize - FileLayout.marks[0]),
                    finding: isCut
                        ? "it was cut off"
                        : file.hasMark
                            ? "its last records are missing or not the ones that were written"
                            : "neither of its marks is whole, so that no one knows whether records are missing"
                )
            )
            isIncomplete = true
            doubtEverything(index)
        }

        private mutating func doubtEverything(_ index: RecordIndex) {
            doubtful.formUnion(index.all.map(index.reference))
        }
    }

    /// Finds the frames of a file, also behind a place where there is none.
    private struct FrameScanner {
        /// How many bytes may be tried in vain: a file made to look like frames everywhere must not take for ever.
        var budget: UInt64
        /// Where the first frame is that is authentic and makes no sense.
        private(set) var senseless: UInt64?

        /// How far is looked at once; far less than the window reads, which would be read anew for each step otherwise.
        private static let stretch: UInt64 = 4 << 10

        /// How many bytes there are before the first that may begin a frame: its head has zeros at a fixed place.
        ///
        /// By way of `memchr(3)`: a file may have many millions of bytes that begin nothing.
        private static func bytesBeforeHead(_ bytes: UnsafeRawBufferPointer) -> Int {
            let (zeros, last) = (FileLayout.frameZeros, bytes.count - FileLayout.frameHeadSize)
            var start = 0
            while start <= last {
                let place = bytes.baseAddress! + start + zeros.lowerBound
                guard let zero = memchr(place, 0, last - start + 1) else { break }
                start += zero - UnsafeMutableRawPointer(mutating: place)
                guard bytes[start + zeros.lowerBound..<start + zeros.upperBound].contains(where: { $0 != 0 }) else {
                    return start
                }
                start += 1
            }
            return last + 1
        }

        /// The next frame that is newer than what was read, nil if there is none.
        mutating func next(in file: OpenFile, _ window: inout FileWindow) throws(KeychainError) -> Frame? {
            var start = file.tip.length
            while start + UInt64(FileLayout.frameHeadSize) <= file.size {
                let count = Int(min(Self.stretch, file.size - start))
                let skipped = try window.withBytes(at: start, count: count) { Self.bytesBeforeHead($0) }
                guard let skipped else { return nil }
                guard skipped == 0 else {
                    start += UInt64(skipped)
                    continue
                }
                defer { start += 1 }
                guard let head = try file.frameHead(at: start, &window) else { continue }
                guard UInt64(head.metadataCount) <= budget else { return nil }
                let frame: Frame?
                do throws(KeychainError) {
                    frame = try file.frame(head, at: start, &window)
                } catch  where error.code == .corrupt {
                    frame = nil
                    senseless = senseless ?? start
                }
                if let frame, frame.base.sequence >= file.tip.sequence { return frame }
                budget -= UInt64(head.metadataCount)
            }
            return nil
        }
    }
#endif
