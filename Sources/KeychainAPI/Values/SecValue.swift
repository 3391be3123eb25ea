// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// What a call returned of an item, in the form that its ``SecReturnType`` asked for.
public enum SecValue<Value: SecItem>: Sendable, Hashable {
    /// The value.
    case data(Data)
    /// The attributes, and the value if that was asked for too.
    case dictionary(SecItemInfo<Value>)
    /// The persistent reference.
    case persistentReference(PersistentReference<Value>)

    init?(_ record: ItemRecord, _ value: SecureBytes?, returning: SecReturnType) {
        switch returning {
        case []: return nil
        case .data:
            guard let value else { return nil }
            self = .data(value.rawRepresentation)
        case .persistentReference:
            self = .persistentReference(PersistentReference(uuid: record.reference))
        default:
            let data = returning.contains(.data) ? value?.rawRepresentation : nil
            self = .dictionary(SecItemInfo(record: record, data: data))
        }
    }
}

extension SecValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The case and what may be shown of it; never the value.
    public var description: String {
        switch self {
        case .data: "data <redacted>"
        case .dictionary(let info): info.description
        case .persistentReference(let reference): "reference \(reference)"
        }
    }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
