// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import KeychainSodium

    /// How far a file is known to be complete, signed.
    ///
    /// There are two places for it, written in turns.
    struct CommitMark: Sendable, Equatable {
        /// How far the file goes.
        let tip: Tip
        /// Which of the two places holds the mark.
        let place: Int

        /// The bytes of a mark.
        static func encoded(_ tip: Tip, fileID: [UInt8], key: SecureBytes) -> [UInt8] {
            var writer = ByteWriter()
            writer.append(tip.length)
            writer.append(tip.sequence)
            writer.append(tip.chain)
            writer.append(Sodium.hash(key: key, fileID + writer.bytes))
            return writer.bytes
        }

        /// The newest mark that is authentic, nil if neither is.
        ///
        /// - Parameter places: The bytes of both places.
        static func newest(_ places: [[UInt8]], fileID: [UInt8], key: SecureBytes) throws(KeychainError) -> CommitMark?
        {
            var newest: CommitMark?
            for (place, bytes) in places.enumerated() where bytes.count == FileLayout.markSize {
                let body = Array(bytes.dropLast(Sodium.keySize))
                guard Sodium.areEqual(Sodium.hash(key: key, fileID + body), Array(bytes.suffix(Sodium.keySize))) else {
                    continue
                }
                let tip = try body.withByteReader { (reader) throws(KeychainError) in
                    Tip(
                        length: try reader.integer(UInt64.self),
                        sequence: try reader.integer(UInt64.self),
                        chain: try reader.array(Sodium.keySize)
                    )
                }
                if newest == nil || tip.sequence > newest!.tip.sequence {
                    newest = CommitMark(tip: tip, place: place)
                }
            }
            return newest
        }
    }
#endif
