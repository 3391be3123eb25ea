// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// An unlocked keychain file, without what it contains: how far it was read, and how more is read and written.
    struct OpenFile: Sendable {
        let place: FilePlace
        let file: any StoredFile
        let identity: FileIdentity
        private(set) var header: FileHeader
        let keys: StoreKeys
        private var staleCopies: [Int]
        /// How far the file was read.
        private(set) var tip: Tip
        /// The items that the last frame is about.
        private(set) var touched = Touched.items([])
        /// The newest mark that was read or written.
        private(set) var mark: CommitMark
        /// Whether a mark was found; only a damaged file has none.
        private(set) var hasMark = true
        /// The bytes of both marks, to notice that one was written.
        private var markBytes: [[UInt8]]
        /// The length of the file; more than the tip's if an unfinished frame follows.
        private(set) var size: UInt64
        private var writable: (any StoredFile)?
        private var isFolderSynchronized = false
        /// How much garbage there has to be before the file is rewritten by itself.
        var compactionThreshold = OpenFile.smallestGarbage

        /// Less garbage than this is never worth a rewrite.
        static let smallestGarbage: UInt64 = 64 << 10

        /// Begins to read a file; nothing of what it contains is read yet.
        ///
        /// - Throws: `corrupt` if no mark is authentic, or the file ends before the mark.
        init(_ sealed: SealedFile, keys: StoreKeys) throws(KeychainError) {
            let (mark, bytes) = try Self.readMark(sealed.file, header: sealed.header, keys: keys)
            self.init(sealed, keys, mark: mark, markBytes: bytes)
            try measure()
        }

        /// Begins to read a file of which not even a mark has to be whole.
        init(damaged sealed: SealedFile, keys: StoreKeys) throws(KeychainError) {
            let bytes = try Self.readMarkBytes(sealed.file)
            let newest = try CommitMark.newest(bytes, fileID: sealed.header.fileID, key: keys.mark)
            self.init(sealed, keys, mark: newest ?? CommitMark(tip: sealed.header.start, place: 0), markBytes: bytes)
            hasMark = newest != nil
            size = try sealed.file.status().length
        }

        private init(_ sealed: SealedFile, _ keys: StoreKeys, mark: CommitMark, markBytes: [[UInt8]]) {
            place = sealed.place
            file = sealed.file
            identity = sealed.identity
            header = sealed.header
            staleCopies = sealed.staleCopies
            self.keys = keys
            tip = sealed.header.start
            self.mark = mark
            self.markBytes = markBytes
            size = 0
        }

        /// Takes over a file that was just written, and is complete.
        init(
            written file: any StoredFile,
            at place: FilePlace,
            header: FileHeader,
            keys: StoreKeys,
            tip: Tip,
            touched: Touched
        ) throws(KeychainError) {
            let status = try file.status()
            self.place = place
            self.file = file
            self.header = header
            self.keys = keys
            self.tip = tip
            self.touched = touched
            identity = FileIdentity(status)
            staleCopies = []
            mark = CommitMark(tip: tip, place: 0)
            markBytes = Self.emptyMarks
            markBytes[0] = CommitMark.encoded(tip, fileID: header.fileID, key: keys.mark)
            size = tip.length
            // Opened again by its name before it is written to: to the system, this descriptor's file still has the name
            // of an unfinished one, and whoever watches for changes would be told that one.
            writable = nil
        }

        /// Everything before the first frame.
        static func region(_ header: FileHeader, keys: StoreKeys, tip: Tip) -> [UInt8] {
            let page = header.encoded(key: keys.header)
            var writer = ByteWriter()
            for _ in FileLayout.headerCopies { writer.append(page) }
            writer.append(CommitMark.encoded(tip, fileID: header.fileID, key: keys.mark))
            writer.pad(to: FileLayout.regionSize)
            return writer.bytes
        }

        private static let emptyMarks = FileLayout.marks.map { _ in [UInt8](repeating: 0, count: FileLayout.markSize) }
    }

    // Reading.
    extension OpenFile {
        /// What has to be done to see the file as it is now.
        enum Freshness {
            /// Nothing.
            case current
            /// Frames were added: read them.
            case longer
            /// The file is not the one that was read, or it went back: open it again.
            case stale
        }

        /// Compares with the file as it is now.
        ///
        /// - Parameter status: What the path leads to.
        /// - Complexity: Two small reads.
        mutating func compare(with status: stat) throws(KeychainError) -> Freshness {
            guard FileIdentity(status) == identity else { return .stale }
            if status.length == size, try hasKnownMarks() { return .current }
            let bytes = try Self.readMarkBytes(file)
            if bytes != markBytes {
                (mark, markBytes) = try Self.readMark(file, header: header, keys: keys)
                // A mark before what was read means that a commit failed after it was seen, or another file.
                guard mark.tip.length > tip.length || mark.tip == tip else { return .stale }
            }
            let now = try file.status()
            guard now.length >= max(tip.length, mark.tip.length) else { return .stale }
            size = now.length
            return .longer
        }

        /// Whether both marks are those that are known, by one read: every call on the store asks.
        private func hasKnownMarks() throws(KeychainError) -> Bool {
            let start = FileLayout.marks[0]
            let count = FileLayout.marks[1] + FileLayout.markSize - start
            let bytes = try file.read(count, at: UInt64(start))
            guard bytes.count == count else { return false }
            return bytes.withUnsafeBytes { bytes in
                zip(FileLayout.marks, markBytes).allSatisfy { place, mark in
                    let found = bytes[(place - start)..<(place - start + FileLayout.markSize)]
                    return mark.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: found).isIdentical(to: $0) }
                }
            }
        }

        /// Reads the frames that follow what was read.
        ///
        /// What follows the mark and is no complete frame, with its values, is what a writer left that was killed: it is
        /// passed over.
        ///
        /// - Parameter apply: Takes each frame.
        /// - Returns: Whether the frames lead to the mark; if not, the file is damaged or not the one that was read.
        mutating func readFrames(
            _ apply: (Frame) throws(KeychainError) -> Void
        ) throws(KeychainError) -> Bool {
            var window = FileWindow(file, end: size)
            while let frame = try nextFrame(&window) {
                guard frame.tip.length <= mark.tip.length || tip.length >= mark.tip.length else { return false }
                try apply(frame)
                advance(over: frame)
                guard tip.length != mark.tip.length || tip == mark.tip else { return false }
            }
            return tip.length >= mark.tip.length
        }

        /// Goes on behind a frame.
        mutating func advance(over frame: Frame) {
            tip = frame.tip
            touched = frame.touched
        }

        /// Reads and opens a value.
        ///
        /// - Throws: `corrupt` if it is not there or not authentic.
        func value(of reference: UUID, at value: ValuePlace) throws(KeychainError) -> SecureBytes {
            let sealed = try file.read(Int(value.sealedCount), at: value.offset)
            guard sealed.count == Int(value.sealedCount) else {
                throw .damaged("it ends within the value at byte \(value.offset)")
            }
            return try sealed.withUnsafeBufferPointer { (buffer) throws(KeychainError) in
                try Frame.openValue(
                    UnsafeRawBufferPointer(buffer),
                    of: reference,
                    at: value,
                    header: header,
                    keys: keys
                )
            }
        }

        /// Which of the two places for a mark holds neither an authentic one nor nothing.
        var tornMarks: [Int] {
            markBytes.indices.filter { place in
                let newest = try? CommitMark.newest([markBytes[place]], fileID: header.fileID, key: keys.mark)
                return (newest ?? nil) == nil && markBytes[place].contains { $0 != 0 }
            }
        }

        /// Whether frames follow the mark: a writer was killed between the two, or is at work.
        var isAheadOfMark: Bool { mark.tip != tip }

        private func nextFrame(_ window: inout FileWindow) throws(KeychainError) -> Frame? {
            guard let head = try frameHead(at: tip.length, &window),
                let frame = try frame(head, at: tip.length, &window), frame.base == tip
            else { return nil }
            if frame.tip.length > mark.tip.length, try !hasValues(frame) { return nil }
            return frame
        }

        /// Whether the values of a frame are there as well: of one that was not yet durable, a power cut may have left the
        /// length and the metadata alone.
        private func hasValues(_ frame: Frame) throws(KeychainError) -> Bool {
            do throws(KeychainError) {
                for operation in frame.operations {
                    guard let place = operation.value else { continue }
                    _ = try value(of: operation.reference, at: place)
                }
                return true
            } catch  where error.code == .corrupt {
                return false
            }
        }

        /// What could be the head of a frame at a place, nil if it is none.
        func frameHead(at start: UInt64, _ window: inout FileWindow) throws(KeychainError) -> Frame.Head? {
            let available = size - start
            let head = try window.withBytes(at: start, count: FileLayout.frameHeadSize) { head in
                Frame.Head(head, available: available)
            }
            return head ?? nil
        }

        /// The frame at a place, whatever it follows; nil if it is not authentic.
        func frame(
            _ head: Frame.Head,
            at start: UInt64,
            _ window: inout FileWindow
        ) throws(KeychainError) -> Frame? {
            let metadata = start + UInt64(FileLayout.frameHeadSize)
            let frame = try window.withBytes(at: metadata, count: head.metadataCount) {
                (metadata) throws(KeychainError) in
                try Frame.open(head, metadata: metadata, at: start, header: header, keys: keys)
            }
            return frame ?? nil
        }

        private mutating func measure() throws(KeychainError) {
            // After the mark was read: a file only grows, so it is never shorter than a mark that was read before.
            size = try file.status().length
            guard size >= mark.tip.length else {
                throw .damaged("it was cut off at byte \(size) of \(mark.tip.length)")
            }
        }

        private static func readMarkBytes(_ file: any StoredFile) throws(KeychainError) -> [[UInt8]] {
            try FileLayout.marks.map { (start) throws(KeychainError) in
                try file.read(FileLayout.markSize, at: UInt64(start))
            }
        }

        private static func readMark(
            _ file: any StoredFile,
            header: FileHeader,
            keys: StoreKeys
        ) throws(KeychainError) -> (CommitMark, [[UInt8]]) {
            // A writer may be at work on one of them, and on the other by the time it is read: look again.
            for _ in 0..<5 {
                let bytes = try readMarkBytes(file)
                if let mark = try CommitMark.newest(bytes, fileID: header.fileID, key: keys.mark) {
                    return (mark, bytes)
                }
            }
            throw .damaged("neither of its marks is authentic")
        }
    }

    // Writing; the caller holds the lock.
    extension OpenFile {
        /// Makes the file end with its last complete frame, and the mark say so.
        ///
        /// - Throws: `accessDenied` or `readOnly` if the file cannot be written, and what writing throws.
        mutating func prepareToAppend() throws(KeychainError) {
            let writable = try writableFile()
            size = try writable.status().length
            if !staleCopies.isEmpty {
                // As it is now: another writer may have changed the key slots since this one has looked.
                let current = try currentHead()
                for copy in current.staleCopies {
                    try writable.write(current.headerPage, at: UInt64(FileLayout.headerCopies[copy]))
                }
                try writable.synchronizeData()
                (header, staleCopies) = (current.header, [])
            }
            try synchronizeFolder()
            guard size != tip.length || isAheadOfMark else { return }
            if size > tip.length { try writable.cut(at: tip.length) }
            if isAheadOfMark { try rewriteUnmarked(writable) }
            try writable.synchronizeData()
            size = tip.length
            if isAheadOfMark { try writeMark(writable, tip) }
        }

        /// Makes the file's name durable: who put it here may not have come to that.
        mutating func synchronizeFolder() throws(KeychainError) {
            guard !isFolderSynchronized else { return }
            try place.system.synchronizeFolder(place.folder)
            isFolderSynchronized = true
        }

        /// The head as it is on the disk now, with the key slots of the last writer that changed them.
        func currentHead() throws(KeychainError) -> SealedFile {
            let current = try SealedFile(place)
            guard current.identity == identity, current.isAuthentic(keys) else {
                throw KeychainError(.busy, "The keychain file ‘\(place.path)’ was just replaced. Try again.")
            }
            return current
        }

        /// Replaces the head, durably; it is either the old or the new one at every moment.
        ///
        /// - Parameter change: Makes the new head of the current one, with a higher generation.
        /// - Throws: What writing throws. If only the second copy could not be written, the head has changed, and what was
        ///   removed may still be in that copy; the next writer mends it.
        /// - Complexity: O(1): the items are not touched.
        mutating func changeHead(
            _ change: (FileHeader) throws(KeychainError) -> FileHeader
        ) throws(KeychainError) {
            try prepareToAppend()
            let current = try currentHead()
            let changed = try change(current.header)
            let page = changed.encoded(key: keys.header)
            let writable = try writableFile()
            // First over the copy that does not count, then over the other one, which still holds what was removed.
            let first = UInt64(FileLayout.headerCopies[1 - current.number])
            do throws(KeychainError) {
                try writable.write(page, at: first)
                try writable.synchronizeData()
            } catch {
                // Else others would see a head that the disk may not have.
                try? writable.write(current.headerPage, at: first)
                throw error
            }
            try writable.write(page, at: UInt64(FileLayout.headerCopies[current.number]))
            try writable.synchronizeData()
            header = changed
        }

        /// Appends a frame and makes it durable; nothing has changed if it throws.
        ///
        /// - Throws: `outOfSpace` and `io`.
        mutating func append(_ bytes: [UInt8], _ frame: Frame) throws(KeychainError) {
            let writable = try writableFile()
            do throws(KeychainError) {
                try renewMark(writable)
                try writable.write(bytes, at: tip.length)
                try writable.synchronizeData()
            } catch {
                // If even this fails, the next writer does it: what follows the mark and is incomplete is passed over.
                try? writable.cut(at: tip.length)
                throw error
            }
            advance(over: frame)
            size = tip.length
            // The frame is durable, and counts without a mark too; a mark that failed is made up for by the next commit.
            try? writeMark(writable, tip)
        }

        /// Writes what follows the mark once more: if a disk error kept its writer from making it durable, the system
        /// may take it for written.
        private func rewriteUnmarked(_ writable: any StoredFile) throws(KeychainError) {
            try renewMark(writable)
            var offset = mark.tip.length
            while offset < tip.length {
                let piece = try writable.read(Int(min(1 << 20, tip.length - offset)), at: offset)
                guard !piece.isEmpty else { throw .damaged("it ends at byte \(offset), before its last record") }
                try writable.write(piece, at: offset)
                offset += UInt64(piece.count)
            }
        }

        /// Writes the newest mark once more where it is, to be flushed with what is written next: if a disk error kept it
        /// from becoming durable, the system may take it for written, and the next mark goes over the other one.
        private func renewMark(_ writable: any StoredFile) throws(KeychainError) {
            try writable.write(markBytes[mark.place], at: UInt64(FileLayout.marks[mark.place]))
        }

        private mutating func writeMark(_ writable: any StoredFile, _ tip: Tip) throws(KeychainError) {
            let bytes = CommitMark.encoded(tip, fileID: header.fileID, key: keys.mark)
            // Never over the newest one: that has to be there if this write is torn.
            let other = 1 - mark.place
            try writable.write(bytes, at: UInt64(FileLayout.marks[other]))
            mark = CommitMark(tip: tip, place: other)
            markBytes[other] = bytes
        }

        private mutating func writableFile() throws(KeychainError) -> any StoredFile {
            if let writable { return writable }
            let opened = try place.system.open(
                place.path,
                O_RDWR | O_NOFOLLOW | O_NONBLOCK,
                action: "The keychain file ‘\(place.path)’ could not be opened for writing"
            )
            guard FileIdentity(try opened.status()) == identity else {
                throw KeychainError(.busy, "The keychain file ‘\(place.path)’ was just replaced. Try again.")
            }
            writable = opened
            return opened
        }
    }

    /// Reads a file piece by piece, in few and large reads.
    struct FileWindow {
        private static let count = 64 << 10
        private let file: any StoredFile
        private let end: UInt64
        private var start: UInt64 = 0
        private var bytes: [UInt8] = []

        /// Reads a file up to a length.
        init(_ file: any StoredFile, end: UInt64) {
            self.file = file
            self.end = end
        }

        /// Calls a closure with bytes of the file; nil if the file ends before.
        mutating func withBytes<Result>(
            at offset: UInt64,
            count: Int,
            _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> Result
        ) throws(KeychainError) -> Result? {
            guard offset <= end, UInt64(count) <= end - offset else { return nil }
            if offset < start || offset + UInt64(count) > start + UInt64(bytes.count) {
                bytes = try file.read(Int(min(UInt64(max(count, Self.count)), end - offset)), at: offset)
                start = offset
                guard bytes.count >= count else { return nil }
            }
            let first = Int(offset - start)
            return try bytes.withUnsafeBufferPointer { (buffer) throws(KeychainError) in
                try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[first..<first + count]))
            }
        }
    }
#endif
