// SPDX-License-Identifier: MIT
#if File && DEBUG
    import Foundation
    import Glibc
    import KeychainAPI

    import KeychainSodium
    @testable import BackendFile

    /// One input, whose first byte says what the others are given to.
    struct FuzzInput {
        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        /// The key of the seeds, which are made from `Tests/BackendFileTests/Fixtures/version-1-key.keychain`.
        static let rawKey = SecureBytes(Data((0..<32).map { UInt8($0) }))

        /// What stands for the master key of files that have none which the raw key opens.
        static let masterKey = SecureBytes(Data(repeating: 0x4B, count: Sodium.keySize))

        /// Gives the bytes to what they are for; that it is refused is as good as that it is taken.
        func run() {
            guard let choice = bytes.first, (try? Sodium.prepare()) != nil else { return }
            let rest = Array(bytes.dropFirst())
            do throws(KeychainError) {
                switch choice % 4 {
                case 0: try Self.examineHeader(rest)
                case 1: try Self.openFrame(rest)
                case 2: try BuiltFile(rest).examine()
                default: try Self.openFile(rest)
                }
            } catch {
                precondition(error.code != .internal, "\(error)")
            }
        }

        /// A copy of the header, its checksum made right.
        private static func examineHeader(_ bytes: [UInt8]) throws(KeychainError) {
            var page = Array(bytes.prefix(FileLayout.pageSize))
            page += [UInt8](repeating: 0, count: FileLayout.pageSize - page.count)
            fixChecksum(&page, copy: 0)
            guard case .valid(let header) = try FileHeader.examine(page) else { return }
            let again = try FileHeader.examine(header.encoded(key: masterKey))
            precondition(again == .valid(header), "A header does not come back")
            for (number, slot) in try header.keySlots() { _ = FileKeySlot(number, slot) }
            _ = header.freeSlot
            _ = try header.masterKey(.key(rawKey))
        }

        /// The metadata of a frame, sealed as its writer would.
        private static func openFrame(_ metadata: [UInt8]) throws(KeychainError) {
            let header = BuiltFile.header
            let keys = BuiltFile.keys
            let operations = (try? BuiltFile.operations(in: metadata)) ?? []
            let values = operations.reduce(UInt64(0)) { $0 + UInt64($1.value?.sealedCount ?? 0) }
            let sealed = BuiltFile.sealedFrame(metadata, valuesCount: values, header, keys)
            let frame = try sealed.withUnsafeBufferPointer { (buffer) throws(KeychainError) -> Frame? in
                let bytes = UnsafeRawBufferPointer(buffer)
                let head = Frame.Head(
                    UnsafeRawBufferPointer(rebasing: bytes[..<FileLayout.frameHeadSize]),
                    available: UInt64(bytes.count) + values
                )
                guard let head else { return nil }
                let metadata = UnsafeRawBufferPointer(rebasing: bytes[FileLayout.frameHeadSize...])
                return try Frame.open(head, metadata: metadata, at: 16384, header: header, keys: keys)
            }
            guard let frame else { return }
            for outline in frame.operations where outline.kind.hasRecord {
                let record = try record(of: outline, in: frame.metadata)
                var writer = ByteWriter()
                try RecordOperation(outline.kind, record).encode(value: outline.value, into: &writer)
                let again = try writer.bytes.withByteReader { (reader) throws(KeychainError) in
                    var offset = outline.value?.offset ?? 0
                    return try OperationOutline(from: &reader, valueOffset: &offset, sequence: frame.tip.sequence)
                }
                let isTheSame = try Self.record(of: again, in: writer.bytes) == record && again.value == outline.value
                precondition(isTheSame, "An operation does not come back")
            }
            var index = RecordIndex()
            do throws(KeychainError) {
                try index.check(frame)
            } catch {
                precondition(error.code == .internal, "\(error)")
                _ = try index.force(frame)
                return
            }
            try index.apply(frame)
        }

        private static func record(
            of outline: OperationOutline,
            in metadata: [UInt8]
        ) throws(KeychainError) -> ItemRecord {
            try OperationBytes.with(metadata, outline.start) { (operation) throws(KeychainError) in
                try EncodedRecord.decode(operation.reference, operation.record)
            }
        }

        /// A whole file; the first byte says which hashes are made right.
        private static func openFile(_ input: [UInt8]) throws(KeychainError) {
            guard let flags = input.first else { return }
            var bytes = Array(input.dropFirst())
            for copy in FileLayout.headerCopies { fixChecksum(&bytes, copy: copy) }
            let files = MemoryFiles(bytes)
            let sealed = try SealedFile(files.place())
            let master = (try? sealed.header.masterKey(.key(rawKey)).master) ?? masterKey
            let keys = StoreKeys(master: master)
            for copy in FileLayout.headerCopies where flags & 1 != 0 && bytes.count >= copy + FileLayout.pageSize {
                let end = copy + FileLayout.headerMACStart
                bytes.replaceSubrange(end..<end + 32, with: Sodium.hash(key: keys.header, Array(bytes[copy..<end])))
                fixChecksum(&bytes, copy: copy)
            }
            for mark in FileLayout.marks where flags & 2 != 0 {
                let body = Array(bytes[mark..<mark + FileLayout.markSize - 32])
                let mac = Sodium.hash(key: keys.mark, sealed.header.fileID + body)
                bytes.replaceSubrange(mark + body.count..<mark + FileLayout.markSize, with: mac)
            }
            try OpenedFile(MemoryFiles(bytes), keys: keys).examine()
        }

        private static func fixChecksum(_ bytes: inout [UInt8], copy: Int) {
            let end = copy + FileLayout.headerChecksumStart
            guard bytes.count >= end + 32 else { return }
            bytes.replaceSubrange(end..<end + 32, with: Sodium.hash(Array(bytes[copy..<end])))
        }
    }
#endif
