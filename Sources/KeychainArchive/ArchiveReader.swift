// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainSodium

    /// Reads an archive, message by message; nothing of it is believed before it has been authenticated.
    struct ArchiveReader {
        private let header: [UInt8]
        private let stream: SecretStream
        private let read: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
        /// The message that is being taken apart, and how much of it has been taken.
        private var message = SecureBytes(count: 0) { _ in }
        private var position = 0
        private var isLast = false

        /// Reads the header.
        ///
        /// - Parameters:
        ///   - key: Is asked for what opens the archive once it is known to be one.
        ///   - read: Reads some bytes and says how many, 0 at the end.
        /// - Throws: As ``ArchiveHeader``; `authenticationFailed` for a wrong passphrase or key; `corrupt` for an archive
        ///   that was cut off; what the closures throw.
        init(
            key: () throws(KeychainError) -> KeyMaterial,
            read: @escaping (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
        ) throws(KeychainError) {
            self.read = read
            let bytes = try Self.bytes(ArchiveHeader.size, read)
            let header = try ArchiveHeader(bytes)
            let start = try Self.bytes(SecretStream.headerSize + SecretStream.overhead, read)
            guard start.count == SecretStream.headerSize + SecretStream.overhead else { throw Self.cutOff }
            try Sodium.prepare()
            self.header = bytes
            stream = try SecretStream.opening(
                Array(start[..<SecretStream.headerSize]),
                with: header.key(from: try key())
            )
            guard let first = stream.open(start[SecretStream.headerSize...], associated: bytes) else {
                throw KeychainError(
                    .authenticationFailed,
                    "The passphrase or key is not the one of the archive, or its beginning is damaged. Give the right one."
                )
            }
            guard !first.isLast else { throw Self.damaged }
        }

        /// The next item, nil after the last one: the archive is whole then.
        ///
        /// - Throws: `corrupt` for an archive that was changed or cut off; `unsupported` for an item that only a later
        ///   version knows; what the closure throws.
        mutating func next() throws(KeychainError) -> (record: ItemRecord, value: SecureBytes)? {
            guard try hasMore() else { return nil }
            let description = try take(Int(integer(UInt32.self)))
            let record = try description.withBytes { (bytes) throws(KeychainError) in
                try ArchivedItem.decode(bytes)
            }
            guard let count = Int(exactly: try integer(UInt64.self)) else { throw Self.damaged }
            return (record, try take(count))
        }

        private mutating func hasMore() throws(KeychainError) -> Bool {
            if position < message.count { return true }
            if isLast {
                guard try Self.bytes(1, read).isEmpty else {
                    throw KeychainError(.corrupt, "Something follows the end of the archive. Take another copy of it.")
                }
                return false
            }
            try nextMessage()
            return try hasMore()
        }

        private mutating func nextMessage() throws(KeychainError) {
            let sealed = try Self.bytes(ArchiveWriter.messageSize + SecretStream.overhead, read)
            guard !sealed.isEmpty else { throw Self.cutOff }
            guard let opened = stream.open(sealed[...], associated: header) else { throw Self.damaged }
            // All but the last are full: so there is one way to write an archive, and each message moves on.
            guard opened.isLast || opened.message.count == ArchiveWriter.messageSize else { throw Self.damaged }
            (message, isLast, position) = (opened.message, opened.isLast, 0)
        }

        private mutating func integer<Number: FixedWidthInteger>(_: Number.Type) throws(KeychainError) -> Number {
            try take(Number.bitWidth / 8).withBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
        }

        /// The next bytes.
        ///
        /// Memory is only taken for what is there: a length proves nothing.
        private mutating func take(_ count: Int) throws(KeychainError) -> SecureBytes {
            var parts: [SecureBytes] = []
            var missing = count
            while missing > 0 {
                guard try hasMore() else { throw Self.damaged }
                let taken = min(missing, message.count - position)
                parts.append(
                    message.withBytes { SecureBytes(UnsafeRawBufferPointer(rebasing: $0[position...].prefix(taken))) }
                )
                position += taken
                missing -= taken
            }
            return SecureBytes(joining: parts)
        }

        /// Reads until there are as many bytes, or there are no more.
        private static func bytes(
            _ count: Int,
            _ read: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int
        ) throws(KeychainError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            var filled = 0
            while filled < count {
                let outcome = bytes.withUnsafeMutableBytes { bytes in
                    Result { () throws(KeychainError) in
                        try read(UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))
                    }
                }
                let got = try outcome.get()
                if got == 0 { break }
                filled += got
            }
            return Array(bytes[..<filled])
        }

        private static let cutOff = KeychainError(
            .corrupt,
            "The archive was cut off; nothing of it was taken. Take another copy of it."
        )

        private static let damaged = KeychainError(
            .corrupt,
            "The archive was changed or damaged; nothing of it was taken. Take another copy of it."
        )
    }
#endif
