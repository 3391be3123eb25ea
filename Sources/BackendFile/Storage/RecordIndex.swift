// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI

    /// What a store contains, in memory: every record and the place of its value; no value.
    ///
    /// Records stay as they stand in the file and are decoded when they are asked for. What was removed or replaced stays
    /// among them until the file is rewritten; so they never take more memory than the file.
    struct RecordIndex: Sendable {
        /// One item.
        struct Entry: Sendable {
            /// Where the operation that describes the item begins; nil for an entry that is free.
            fileprivate var place: MetadataLog.Place?
            var value: ValuePlace
            /// How many bytes of the file describe the item, its value included.
            var byteCount: UInt64

            fileprivate init(_ frame: MetadataLog.Place, _ outline: OperationOutline, _ value: ValuePlace) {
                place = frame.advanced(by: outline.start)
                self.value = value
                byteCount = UInt64(outline.count) + UInt64(value.sealedCount)
            }
        }

        /// Most keys have fewer bytes.
        private static let usualKeySize = 160

        private var log = MetadataLog()
        private var entries: [Entry] = []
        private var freeEntries: [Int] = []
        private var byReference = HashTable()
        private var byKey = HashTable()
        private var byAttribute = AttributeIndex()
        /// How many bytes of the file are about items that are there.
        private(set) var liveByteCount: UInt64 = 0

        /// How many items there are.
        var count: Int { entries.count - freeEntries.count }

        /// Every item, in any order.
        var all: [Entry] { entries.filter { $0.place != nil } }

        /// An item.
        ///
        /// - Complexity: O(1).
        subscript(reference: UUID) -> Entry? { number(of: reference).map { entries[$0] } }

        /// The reference of an item.
        func reference(of entry: Entry) -> UUID { log.withOperation(at: entry.place) { $0.reference } }

        /// The record of an item.
        func record(of entry: Entry) throws(KeychainError) -> ItemRecord {
            try log.withOperation(at: entry.place) { (operation) throws(KeychainError) in
                try EncodedRecord.decode(operation.reference, operation.record)
            }
        }

        /// The records that match.
        ///
        /// - Complexity: O(1) for a reference or a full primary key; O(m) in the number of items with that value if the
        ///   selection has an attribute that is indexed, once it was asked for; else O(n) in the number of items.
        func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
            if let reference = selection.reference {
                return try number(of: reference).flatMap { (number) throws(KeychainError) in
                    try record(number, matching: selection)
                }.map { [$0] } ?? []
            }
            if let key = selection.primaryKey {
                return try number(of: key).flatMap { (number) throws(KeychainError) in
                    try record(number, matching: selection)
                }.map { [$0] } ?? []
            }
            var found: [ItemRecord] = []
            for number in try candidates(selection) {
                if let record = try record(number, matching: selection) { found.append(record) }
            }
            return found
        }

        private func record(_ number: Int, matching selection: RecordSelection) throws(KeychainError) -> ItemRecord? {
            try log.withOperation(at: entries[number].place) { (operation) throws(KeychainError) in
                guard try EncodedRecord.matches(operation.record, selection) else { return nil }
                let record = try EncodedRecord.decode(operation.reference, operation.record)
                return selection.matches(record) ? record : nil
            }
        }

        /// Checks that the operations of a frame fit the contents, and changes nothing.
        ///
        /// - Throws: `internal` if they do not: an item to be added exists, another does not, or a primary key would not
        ///   be unique.
        func check(_ frame: Frame) throws(KeychainError) {
            // What the operations leave of each item that they touch: the key, nil if it is gone.
            var outcome: [UUID: EncodedKey?] = Dictionary(minimumCapacity: frame.operations.count)
            var writer = ByteWriter(capacity: Self.usualKeySize)
            for outline in frame.operations {
                try OperationBytes.with(frame.metadata, outline.start) { (operation) throws(KeychainError) in
                    let reference = outline.reference
                    let exists = outcome[reference].map { $0 != nil } ?? (number(of: reference) != nil)
                    try Self.requireFit(outline.kind, exists)
                    writer.clear()
                    if outline.kind.hasRecord { try EncodedRecord.encodeKey(of: operation.record, into: &writer) }
                    outcome[reference] = .some(outline.kind.hasRecord ? EncodedKey(bytes: writer.bytes) : nil)
                }
            }
            var added = Set<EncodedKey>(minimumCapacity: outcome.count)
            for case let key? in outcome.values {
                let holder = try number(ofKey: key.bytes)
                let isTaken = holder.map { outcome[reference(of: $0)] == nil } ?? false
                guard !isTaken, added.insert(key).inserted else { throw Self.doubleKey }
            }
        }

        /// Changes the contents as a frame says.
        ///
        /// - Throws: `internal` if its operations do not fit the contents, which are not to be used after that.
        mutating func apply(_ frame: Frame) throws(KeychainError) {
            let start = log.append(frame.metadata)
            if !isKnownUniquelyReferenced(&byAttribute) { byAttribute = AttributeIndex(copying: byAttribute) }
            let attributes = byAttribute.names
            var writer = ByteWriter(capacity: Self.usualKeySize)
            // Two items may have one key between two operations of a frame.
            var suspects: [Int] = []
            for outline in frame.operations {
                let known = number(of: outline.reference)
                try Self.requireFit(outline.kind, known != nil)
                if let known { try unlink(known, attributes, &writer) }
                guard let keyHash = outline.keyHash else {
                    if let known { free(known) }
                    continue
                }
                guard let value = outline.value ?? known.map({ entries[$0].value }) else {
                    throw Self.contradiction("an item has no value")
                }
                let entry = Entry(start, outline, value)
                if let known { entries[known] = entry }
                let number = known ?? add(entry, outline.reference)
                if try link(number, keyHash, attributes) { suspects.append(number) }
            }
            for number in suspects where entries[number].place != nil {
                try key(of: number, into: &writer)
                guard try self.number(ofKey: writer.bytes, except: number) == nil else { throw Self.doubleKey }
            }
        }

        /// Changes the contents as a frame says whose operations do not fit them, since something is missing in between.
        ///
        /// - Returns: The records whose value is not known.
        mutating func force(_ frame: Frame) throws(KeychainError) -> [ItemRecord] {
            let start = log.append(frame.metadata)
            if !isKnownUniquelyReferenced(&byAttribute) { byAttribute = AttributeIndex(copying: byAttribute) }
            let attributes = byAttribute.names
            var writer = ByteWriter(capacity: Self.usualKeySize)
            var valueless: [ItemRecord] = []
            for outline in frame.operations {
                try OperationBytes.with(frame.metadata, outline.start) { (operation) throws(KeychainError) in
                    let number = number(of: outline.reference)
                    guard let keyHash = outline.keyHash else {
                        if let number { try remove(number, attributes, &writer) }
                        return
                    }
                    guard let value = outline.value ?? number.map({ entries[$0].value }) else {
                        valueless.append(try EncodedRecord.decode(outline.reference, operation.record))
                        return
                    }
                    if let number { try remove(number, attributes, &writer) }
                    writer.clear()
                    try EncodedRecord.encodeKey(of: operation.record, into: &writer)
                    // Who has the key is the newer one: the other was renamed or removed where nothing can be read.
                    if let other = try self.number(ofKey: writer.bytes) { try remove(other, attributes, &writer) }
                    let added = add(Entry(start, outline, value), outline.reference)
                    _ = try link(added, keyHash, attributes)
                }
            }
            return valueless
        }

        /// A primary key in its encoded form, hashed as one piece: an array is hashed byte by byte.
        private struct EncodedKey: Hashable {
            let bytes: [UInt8]

            func hash(into hasher: inout Hasher) {
                bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        }

        private static func requireFit(_ kind: OperationKind, _ exists: Bool) throws(KeychainError) {
            guard (kind == .insert) != exists else {
                throw contradiction(exists ? "an item exists already" : "an item is missing")
            }
        }

        private static let doubleKey = contradiction("two items have one primary key")

        private static func contradiction(_ finding: String) -> KeychainError {
            KeychainError(
                .internal,
                "A change does not fit what the keychain file contains: \(finding). Please report it."
            )
        }
    }

    // Finding.
    extension RecordIndex {
        /// The numbers of the entries that may match a selection by its attributes.
        private func candidates(_ selection: RecordSelection) throws(KeychainError) -> [Int] {
            for name in AttributeIndex.names {
                // An empty value also stands for one that is absent, and a server for its subdomains.
                guard let value = selection.attributes[name], value != value.form.defaultValue,
                    name != .server || !selection.matchesSubdomains
                else { continue }
                var writer = ByteWriter(capacity: Self.usualKeySize)
                EncodedRecord.encode(value, into: &writer)
                let hash = writer.bytes.withUnsafeBytes { Self.hash($0) }
                return try byAttribute.entries(hash, of: name) { () throws(KeychainError) in try chains(of: name) }
            }
            return entries.indices.filter { entries[$0].place != nil }
        }

        private func chains(of name: AttributeName) throws(KeychainError) -> AttributeChains {
            var chains = AttributeChains()
            for number in entries.indices where entries[number].place != nil {
                if let hash = try hash(of: name, number) { chains.insert(number, hash) }
            }
            return chains
        }

        private func number(of reference: UUID) -> Int? {
            byReference.first(Self.hash(reference)) { self.reference(of: $0) == reference }
        }

        private func number(of key: PrimaryKey) throws(KeychainError) -> Int? {
            var writer = ByteWriter(capacity: Self.usualKeySize)
            try EncodedRecord.encode(key, into: &writer)
            return try number(ofKey: writer.bytes)
        }

        private func number(ofKey key: [UInt8], except other: Int? = nil) throws(KeychainError) -> Int? {
            var writer = ByteWriter(capacity: Self.usualKeySize)
            return try byKey.first(EncodedRecord.hash(ofKey: key)) { (number) throws(KeychainError) in
                guard number != other else { return false }
                try self.key(of: number, into: &writer)
                return writer.bytes == key
            }
        }

        private func reference(of number: Int) -> UUID {
            reference(of: entries[number])
        }

        /// Writes an entry's primary key over what the writer has.
        private func key(of number: Int, into writer: inout ByteWriter) throws(KeychainError) {
            writer.clear()
            try log.withOperation(at: entries[number].place) { (operation) throws(KeychainError) in
                try EncodedRecord.encodeKey(of: operation.record, into: &writer)
            }
        }

        private func hash(of name: AttributeName, _ number: Int) throws(KeychainError) -> UInt64? {
            try log.withOperation(at: entries[number].place) { (operation) throws(KeychainError) in
                try EncodedRecord.value(of: name, in: operation.record).map { Self.hash($0) }
            }
        }

        /// Keyed anew in each process: who chooses the names of items cannot let them meet in one place.
        private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }

        /// References are random already.
        private static func hash(_ reference: UUID) -> UInt64 {
            withUnsafeBytes(of: reference.uuid) { bytes in
                let words = bytes.loadUnaligned(as: (UInt64, UInt64).self)
                return (words.0 ^ words.1) &* 0x9E37_79B9_7F4A_7C15
            }
        }
    }

    // Changing.
    extension RecordIndex {
        /// Makes room for a frame and for what is likely to follow it, if the rest of the file is like this part of it.
        ///
        /// Tables that only ever double are filled twice. Never room for more than eight times as many items as there are:
        /// the rest may be large values.
        ///
        /// - Parameters:
        ///   - frame: The frame that is applied next.
        ///   - end: Where the file ends.
        mutating func makeRoom(for frame: Frame, before end: UInt64) {
            let added = frame.operations.count
            guard entries.count + added > entries.capacity, end > frame.base.length else { return }
            let share = Double(end - frame.base.length) / Double(frame.tip.length - frame.base.length)
            let expected = min(Double(added) * share, Double(max(entries.count, added) * 8))
            let capacity = entries.count + Int(expected)
            // A little more each time would be worse than doubling.
            guard capacity >= entries.capacity * 2 else { return }
            entries.reserveCapacity(capacity)
            byReference.reserve(capacity)
            byKey.reserve(capacity)
        }

        private mutating func add(_ entry: Entry, _ reference: UUID) -> Int {
            let number = freeEntries.popLast() ?? entries.count
            if number == entries.count { entries.append(entry) } else { entries[number] = entry }
            byReference.insert(Self.hash(reference), number)
            return number
        }

        private mutating func free(_ number: Int) {
            byReference.remove(Self.hash(reference(of: number)), number)
            entries[number].place = nil
            freeEntries.append(number)
        }

        private mutating func remove(
            _ number: Int,
            _ attributes: [AttributeName],
            _ writer: inout ByteWriter
        ) throws(KeychainError) {
            try unlink(number, attributes, &writer)
            free(number)
        }

        /// Lets an entry be found by what its operation says; true if another one may have its key.
        private mutating func link(
            _ number: Int,
            _ keyHash: UInt64,
            _ attributes: [AttributeName]
        ) throws(KeychainError) -> Bool {
            liveByteCount += entries[number].byteCount
            for name in attributes {
                if let hash = try hash(of: name, number) { byAttribute.insert(number, hash, of: name) }
            }
            return byKey.insert(keyHash, number)
        }

        private mutating func unlink(
            _ number: Int,
            _ attributes: [AttributeName],
            _ writer: inout ByteWriter
        ) throws(KeychainError) {
            liveByteCount -= entries[number].byteCount
            for name in attributes {
                if let hash = try hash(of: name, number) { byAttribute.remove(number, hash, of: name) }
            }
            try key(of: number, into: &writer)
            byKey.remove(try EncodedRecord.hash(ofKey: writer.bytes), number)
        }
    }
#endif
