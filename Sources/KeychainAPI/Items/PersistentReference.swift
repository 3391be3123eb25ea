// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// Names one item for good: random, unique in its store, and unchanged by every update.
public struct PersistentReference<Value: SecItem>: Hashable, Sendable, CustomStringConvertible {
    /// The random part.
    public let uuid: UUID

    /// Makes a reference from its random part.
    ///
    /// - Parameter uuid: The random part.
    public init(uuid: UUID) {
        self.uuid = uuid
    }

    /// Makes a reference from bytes; nil unless they are one of this class of items.
    ///
    /// - Parameter data: 20 bytes: the class's four-character code and the 16 bytes of the UUID.
    public init?(_ data: Data) {
        let bytes = Array(data)
        guard bytes.count == 20, bytes.starts(with: Value.itemClass.rawValue.utf8) else { return nil }
        uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(fromByteOffset: 4, as: uuid_t.self)) }
    }

    /// The reference as 20 bytes, to be kept by the application.
    public var data: Data {
        var data = Data(Value.itemClass.rawValue.utf8)
        withUnsafeBytes(of: uuid.uuid) { data.append(contentsOf: $0) }
        return data
    }

    /// The random part as text.
    public var description: String { uuid.uuidString }
}
