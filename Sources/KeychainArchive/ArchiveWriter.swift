// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import KeychainSodium

    /// Writes an archive, message by message.
    struct ArchiveWriter {
        /// The length of every message but the first, which is empty, and the last.
        static let messageSize = 64 * 1024

        private let header: [UInt8]
        private let stream: SecretStream
        private let write: (UnsafeRawBufferPointer) throws(KeychainError) -> Void
        /// What is not sealed yet; never more than a message.
        private var rest = SecureBytes(count: 0) { _ in }

        /// Writes the header.
        ///
        /// - Throws: As ``ArchiveHeader/key(from:)``, and what the closure throws.
        init(
            _ material: KeyMaterial,
            _ cost: DerivationCost,
            write: @escaping (UnsafeRawBufferPointer) throws(KeychainError) -> Void
        ) throws(KeychainError) {
            try Sodium.prepare()
            let header = ArchiveHeader(material, cost)
            self.header = header.bytes
            self.write = write
            let (stream, start) = try SecretStream.sealing(with: header.key(from: material))
            self.stream = stream
            try emit(self.header + start)
            // An empty message: a wrong passphrase is told from damage by it.
            try emit(stream.seal(rest, associated: self.header, isLast: false))
        }

        /// Writes an item.
        mutating func append(_ record: ItemRecord, _ value: SecureBytes) throws(KeychainError) {
            let description = try ArchivedItem.encode(record)
            try append(Self.length(UInt32(description.count)))
            try append(SecureBytes(description))
            try append(Self.length(UInt64(value.count)))
            try append(value)
        }

        /// Writes what is left, and the end.
        mutating func finish() throws(KeychainError) {
            try emit(stream.seal(rest, associated: header, isLast: true))
        }

        private static func length(_ number: some FixedWidthInteger) -> SecureBytes {
            withUnsafeBytes(of: number.littleEndian) { SecureBytes(Array($0)) }
        }

        private mutating func append(_ bytes: SecureBytes) throws(KeychainError) {
            try bytes.withBytes { (bytes) throws(KeychainError) in
                var bytes = bytes
                while rest.count + bytes.count > Self.messageSize {
                    let taken = Self.messageSize - rest.count
                    let message = rest.followed(by: bytes.prefix(taken))
                    try emit(stream.seal(message, associated: header, isLast: false))
                    rest = SecureBytes(count: 0) { _ in }
                    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken))
                }
                rest = rest.followed(by: bytes[...])
            }
        }

        private func emit(_ bytes: [UInt8]) throws(KeychainError) {
            let outcome = bytes.withUnsafeBytes { bytes in Result { () throws(KeychainError) in try write(bytes) } }
            try outcome.get()
        }
    }

    extension SecureBytes {
        fileprivate func followed(by more: Slice<UnsafeRawBufferPointer>) -> SecureBytes {
            SecureBytes(count: count + more.count) { target in
                withBytes { target.copyMemory(from: $0) }
                UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyBytes(from: more)
            }
        }
    }
#endif
