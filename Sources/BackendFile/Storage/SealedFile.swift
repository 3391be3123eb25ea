// SPDX-License-Identifier: MIT
#if File
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import KeychainSystem

    /// A keychain file that was opened and recognised, and not unlocked.
    struct SealedFile: Sendable {
        let place: FilePlace
        let file: any StoredFile
        let identity: FileIdentity
        /// The newer of the two header copies.
        let header: FileHeader
        /// Which of the two that is.
        let number: Int
        /// The bytes of that copy.
        let headerPage: [UInt8]
        /// Which copies differ from that one; a writer mends them.
        let staleCopies: [Int]
        /// What is wrong with the parts of the head that nothing depends on.
        let blemishes: [FileDamage]

        /// Opens the file.
        ///
        /// - Throws: `insecurePermissions`, `corrupt` for what is no keychain file or a damaged one, `unsupported` for one
        ///   of a later version.
        init(_ place: FilePlace) throws(KeychainError) {
            self.place = place
            // Non-blocking: opening a pipe that lies at the path must not wait for its other end.
            file = try place.system.open(
                place.path,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
                action: "The keychain file ‘\(place.path)’ could not be opened"
            )
            let status = try file.status()
            try status.requireKeychainFile(place)
            identity = FileIdentity(status)
            guard status.length > 0 else {
                throw KeychainError(
                    .corrupt,
                    "‘\(place.path)’ is empty, which no keychain file ever is. Restore it from a backup, or remove it to "
                        + "begin anew."
                )
            }
            let region = try file.read(FileLayout.regionSize, at: 0)
            let pages = FileLayout.headerCopies.map { start in
                Array(region[min(start, region.count)..<min(start + FileLayout.pageSize, region.count)])
            }
            let copies = try pages.map { (page) throws(KeychainError) in try FileHeader.examine(page) }
            guard let newest = Self.newest(copies), region.count == FileLayout.regionSize else {
                throw Self.refusal(copies, begin: region.prefix(FileLayout.magic.count), place)
            }
            header = newest.header
            number = newest.number
            headerPage = pages[newest.number]
            staleCopies = pages.indices.filter { [pages] in pages[$0] != pages[newest.number] }
            var blemishes: [FileDamage] = []
            for start in FileLayout.marks {
                let unused = start + FileLayout.markSize..<start + FileLayout.pageSize
                guard !Sodium.isZero(region[unused]) else { continue }
                blemishes.append(
                    FileDamage(
                        offset: UInt64(unused.lowerBound),
                        count: UInt64(unused.count),
                        finding: "there is something in the unused part of its head"
                    )
                )
            }
            self.blemishes = blemishes
        }

        /// Whether the header was written by who knows the master key.
        func isAuthentic(_ keys: StoreKeys) -> Bool {
            FileHeader.isAuthentic(headerPage, key: keys.header)
        }

        private static func newest(_ copies: [FileHeader.Copy]) -> (number: Int, header: FileHeader)? {
            var newest: (number: Int, header: FileHeader)?
            for (number, copy) in copies.enumerated() {
                switch copy {
                case .valid(let header):
                    if newest == nil || header.generation > newest!.header.generation { newest = (number, header) }
                // A later version has been here: what this one would make of the rest is not to be trusted.
                case .newer: return nil
                case .damaged, .foreign: continue
                }
            }
            return newest
        }

        private static func refusal(
            _ copies: [FileHeader.Copy],
            begin: ArraySlice<UInt8>,
            _ place: FilePlace
        ) -> KeychainError {
            for case .newer(let version) in copies {
                return KeychainError(
                    .unsupported,
                    "The keychain file ‘\(place.path)’ has format version \(version); this program knows version "
                        + "\(FileLayout.version). Update it."
                )
            }
            let isKnown = copies.contains { $0 != .foreign }
            guard isKnown || (begin.count < FileLayout.magic.count && FileLayout.magic.starts(with: begin)) else {
                return KeychainError(
                    .corrupt,
                    "‘\(place.path)’ is not a keychain file. Nothing was changed; check the path."
                )
            }
            return newest(copies) == nil
                ? .damaged("neither copy of its head is intact")
                : .damaged("it was cut off within its head")
        }
    }
#endif
