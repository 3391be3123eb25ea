// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI

    /// The items that a frame is about, as the frame behind it repeats them: should the frame be damaged, it is known
    /// which items are affected, and every other one can still be vouched for.
    enum Touched: Sendable, Equatable {
        /// These, each once and in ascending order; none before the first frame.
        case items([UUID])
        /// More than are repeated.
        case many

        /// The most that are repeated.
        private static let limit = 16
        private static let manyMark: UInt8 = 255

        init(_ references: some Collection<UUID>) {
            var items: [UUID] = []
            for reference in references where !items.contains(reference) {
                items.append(reference)
                guard items.count <= Self.limit else {
                    self = .many
                    return
                }
            }
            self = .items(items.sorted())
        }

        /// Reads them from a frame's metadata.
        init(from reader: inout ByteReader) throws(KeychainError) {
            let count = try reader.integer(UInt8.self)
            guard count != Self.manyMark else {
                self = .many
                return
            }
            guard count <= Self.limit else { throw .damaged("a frame repeats more items than it can") }
            let items = try (0..<count).map { (_) throws(KeychainError) in
                UUID(uuid: try reader.slice(16).loadUnaligned(as: uuid_t.self))
            }
            self = Touched(items)
        }

        /// Appends them to a frame's metadata.
        func encode(into writer: inout ByteWriter) {
            switch self {
            case .many: writer.append(Self.manyMark)
            case .items(let items):
                writer.append(UInt8(items.count))
                for item in items { withUnsafeBytes(of: item.uuid) { writer.append($0) } }
            }
        }
    }
#endif
