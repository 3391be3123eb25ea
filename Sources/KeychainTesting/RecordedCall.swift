// SPDX-License-Identifier: MIT

public import KeychainAPI

/// One verb that has reached the store of a test: what it was about, and no value.
///
/// A verb that fails is recorded too, as far as it came. One that is refused before the store is asked, for example because
/// its arguments are not valid, is not.
public struct RecordedCall: Sendable, Hashable {
    /// One change of the store, without the value.
    public enum Change: Sendable, Hashable {
        /// An item was added.
        case inserted(ItemRecord)
        /// An item's attributes or value were replaced.
        case updated(from: ItemRecord, to: ItemRecord)
        /// An item was removed.
        case removed(ItemRecord)

        init(_ mutation: RecordMutation) {
            switch mutation {
            case .insert(let record, _): self = .inserted(record)
            case .update(let old, let new, _): self = .updated(from: old, to: new)
            case .delete(let record): self = .removed(record)
            }
        }

        fileprivate var records: [ItemRecord] {
            switch self {
            case .inserted(let record), .removed(let record): [record]
            case .updated(let old, let new): [old, new]
            }
        }
    }

    /// The verb.
    public let operation: KeychainOperation
    /// What was looked for: once for most verbs, more often in a transaction.
    public internal(set) var selections: [RecordSelection] = []
    /// The items whose values were read, one for each reading.
    public internal(set) var readings: [ItemRecord] = []
    /// What was to be changed.
    public internal(set) var changes: [Change] = []

    init(operation: KeychainOperation) {
        self.operation = operation
    }

    /// The class of the items that it looked for first.
    public var itemClass: ItemClass? { selections.first?.itemClass }
    /// The attributes that it looked for first.
    public var attributes: AttributeSet { selections.first?.attributes ?? AttributeSet() }
    /// Whether it was to change the store.
    public var isWrite: Bool { !changes.isEmpty }

    /// Whether it looked for no more than a selection, or read or changed what matches it.
    func isAbout(_ wanted: RecordSelection) -> Bool {
        readings.contains(where: wanted.matches) || changes.flatMap(\.records).contains(where: wanted.matches)
            || selections.contains { isPart($0, of: wanted) }
    }

    private func isPart(_ selection: RecordSelection, of wanted: RecordSelection) -> Bool {
        selection.itemClass == wanted.itemClass && selection.accessGroup == wanted.accessGroup
            && (wanted.isSynchronizable == nil || selection.isSynchronizable == wanted.isSynchronizable)
            && selection.reference == wanted.reference
            && wanted.attributes.allSatisfy { selection.attributes[$0.name] == $0.value }
    }
}

extension RecordedCall: CustomStringConvertible {
    /// The verb, the class, and the names of the attributes.
    public var description: String {
        let names = attributes.map(\.name.rawValue).joined(separator: ", ")
        return operation.rawValue + (itemClass.map { " \($0)" } ?? "") + (names.isEmpty ? "" : " by \(names)")
    }
}
