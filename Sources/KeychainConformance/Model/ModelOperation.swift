// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Which items a verb of a model check means.
struct ModelQuery: Sendable {
    var itemClass: ItemClass
    var group: Int
    var synchronizable: Synchronizability?
    var attributes: [AttributeName: AttributeValue]
    /// Names the item at this place among those of the class and group, in the order of results, by its reference.
    var place: Int?
}

/// One verb of a model check.
///
/// What it prints contains no value of an item.
indirect enum ModelOperation: Sendable, CustomStringConvertible {
    case store(ModelQuery, value: Int, policy: Int, IfExists)
    case update(ModelQuery, ModelChanges)
    case retrieve(ModelQuery)
    case retrieveAll(ModelQuery)
    case info(ModelQuery)
    case infoAll(ModelQuery)
    case contains(ModelQuery)
    case remove(ModelQuery)
    case removeAll(ItemClass?, group: Int, includingSynchronizable: Bool)
    case transfer(ModelQuery, isMove: Bool, to: Int, IfExists)
    case transaction([ModelOperation], group: Int, fails: Bool)

    /// What an update changes.
    struct ModelChanges: Sendable {
        var attributes: [AttributeName: AttributeValue?] = [:]
        var value: Int?
        var policy: Int?
        var isSynchronizable: Bool?

        var isEmpty: Bool { attributes.isEmpty && value == nil && policy == nil && isSynchronizable == nil }
    }

    var description: String {
        switch self {
        case .store(let query, let value, let policy, let ifExists):
            "store value \(value) \(query), policy \(policy), \(ifExists)"
        case .update(let query, let changes):
            "update \(query): \(changes.attributes.map { "\($0)=\($1.map(Self.text) ?? "nil")" }.sorted()), "
                + "value \(changes.value ?? -1), policy \(changes.policy ?? -1), "
                + "synchronizable \(changes.isSynchronizable.map { "\($0)" } ?? "–")"
        case .retrieve(let query): "retrieve \(query)"
        case .retrieveAll(let query): "retrieveAll \(query)"
        case .info(let query): "info \(query)"
        case .infoAll(let query): "infoAll \(query)"
        case .contains(let query): "contains \(query)"
        case .remove(let query): "remove \(query)"
        case .removeAll(let itemClass, let group, let includingSynchronizable):
            "removeAll \(itemClass?.description ?? "of every class") in group \(group), "
                + "synchronizable \(includingSynchronizable)"
        case .transfer(let query, let isMove, let target, let ifExists):
            "\(isMove ? "move" : "copy") \(query) to group \(target), \(ifExists)"
        case .transaction(let operations, let group, let fails):
            "transaction in group \(group)\(fails ? ", which fails," : "") \(operations)"
        }
    }

    /// An attribute of the check's own small universe, as text that tells spellings apart.
    static func text(_ value: AttributeValue) -> String {
        switch value {
        case .text(let text): text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        case .data(let data): "\(Array(data))"
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}

extension ModelQuery: CustomStringConvertible {
    var description: String {
        let set = attributes.map { "\($0)=\(ModelOperation.text($1))" }.sorted().joined(separator: " ")
        let mark = synchronizable.map { " \($0)" } ?? ""
        return "\(itemClass.rawValue)/\(group)\(mark) [\(set)]" + (place.map { " by reference \($0)" } ?? "")
    }
}
