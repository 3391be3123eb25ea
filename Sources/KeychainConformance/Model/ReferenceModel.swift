// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// What a store should hold and answer, straight from the contract: a list of items and nothing clever.
///
/// Shares no rule with the library: keys, matching and conflicts are written down again here.
struct ReferenceModel {
    /// One item.
    struct Item {
        let number: Int
        let itemClass: ItemClass
        var group: Int
        var isSynchronizable: Bool
        /// Attributes as bytes; key attributes with their default are left out.
        var attributes: [AttributeName: [UInt8]]
        var value: Int
        var policy: Int
        /// What only the store knows, once it has told: the reference and the dates.
        var known: (reference: UUID, created: Date, modified: Date)?
    }

    /// What a verb answers.
    enum Answer: Equatable, CustomStringConvertible {
        case done
        case count(Int)
        case flag(Bool)
        /// The numbers of items, in the order of results.
        case items([Int])
        case error(KeychainError.Code)

        var description: String {
            switch self {
            case .done: "done"
            case .count(let count): "\(count) items"
            case .flag(let flag): "\(flag)"
            case .items(let numbers): "items \(numbers)"
            case .error(let code): "\(code)"
            }
        }
    }

    private(set) var items: [Item] = []
    private var nextNumber = 0

    static func bytes(_ value: AttributeValue) -> [UInt8] {
        switch value {
        case .text(let text): Array(text.utf8)
        case .data(let data): Array(data)
        case .integer(let number): number == 0 ? [] : Array("\(number)".utf8)
        case .boolean(let flag): flag ? [1] : []
        }
    }

    private static func stored(_ attributes: [AttributeName: AttributeValue], _ itemClass: ItemClass) -> [AttributeName:
        [UInt8]]
    {
        let key = ContractTable.row(itemClass).key
        return attributes.mapValues(bytes).filter { !($0.value.isEmpty && key.contains($0.key)) }
    }

    /// Class, group, mark and key attributes, as bytes that can be compared.
    static func key(_ item: Item) -> [[UInt8]] {
        let head: [[UInt8]] = [
            Array(item.itemClass.rawValue.utf8), [UInt8(item.group)], item.isSynchronizable ? [1] : [],
        ]
        return head + ContractTable.row(item.itemClass).key.map { item.attributes[$0] ?? [] }
    }

    /// Items in the order of results: creation date, then reference.
    func ordered(_ items: [Item]) -> [Item] {
        items.sorted { left, right in
            guard let first = left.known, let second = right.known else { return left.number < right.number }
            if first.created != second.created { return first.created < second.created }
            return first.reference.uuidString < second.reference.uuidString
        }
    }

    /// The item that a query names by its place, if there is one there.
    func named(_ query: ModelQuery) -> Item? {
        let candidates = ordered(items.filter { $0.itemClass == query.itemClass && $0.group == query.group })
        return query.place.flatMap { $0 < candidates.count ? candidates[$0] : nil }
    }

    private func matches(_ query: ModelQuery) -> [Item] {
        let key = ContractTable.row(query.itemClass).key
        let named = named(query)
        return ordered(items).filter { item in
            guard item.itemClass == query.itemClass, item.group == query.group else { return false }
            if let named, named.number != item.number { return false }
            switch query.synchronizable {
            case nil: if named == nil, item.isSynchronizable { return false }
            case .local?: if item.isSynchronizable { return false }
            case .synchronizable?: if !item.isSynchronizable { return false }
            case .any?: break
            }
            return query.attributes.allSatisfy { name, value in
                guard let own = item.attributes[name] else { return key.contains(name) && Self.bytes(value).isEmpty }
                return own == Self.bytes(value)
            }
        }
    }

    private static func isValid(_ attributes: some Sequence<AttributeValue>) -> Bool {
        attributes.allSatisfy { if case .text(let text) = $0 { !text.utf8.contains(0) } else { true } }
    }

    /// Whether two items have one key.
    private static func collides(_ items: [Item]) -> Bool { Set(items.map(key)).count != items.count }

    /// Does a verb, and gives its answer.
    mutating func perform(_ operation: ModelOperation) -> Answer {
        switch operation {
        case .store(let query, let value, let policy, let ifExists): return store(query, value, policy, ifExists)
        case .update(let query, let changes): return update(query, changes)
        case .retrieve(let query), .info(let query):
            return asked(query) { .items($0.prefix(1).map(\.number)) }
        case .retrieveAll(let query), .infoAll(let query): return asked(query) { .items($0.map(\.number)) }
        case .contains(let query): return asked(query) { .flag(!$0.isEmpty) }
        case .remove(let query):
            if query.attributes.isEmpty, named(query) == nil { return .error(.invalidParameter) }
            guard Self.isValid(query.attributes.values) else { return .error(.invalidParameter) }
            let found = Set(matches(query).map(\.number))
            items.removeAll { found.contains($0.number) }
            return .flag(!found.isEmpty)
        case .removeAll(let itemClass, let group, let includingSynchronizable):
            items.removeAll { item in
                (itemClass ?? item.itemClass) == item.itemClass && item.group == group
                    && (includingSynchronizable || !item.isSynchronizable)
            }
            return .done
        case .transfer(let query, let isMove, let target, let ifExists):
            return transfer(query, isMove, target, ifExists)
        case .transaction: return .done
        }
    }

    private func asked(_ query: ModelQuery, _ answer: ([Item]) -> Answer) -> Answer {
        Self.isValid(query.attributes.values) ? answer(matches(query)) : .error(.invalidParameter)
    }

    private mutating func store(_ query: ModelQuery, _ value: Int, _ policy: Int, _ ifExists: IfExists) -> Answer {
        guard Self.isValid(query.attributes.values), query.synchronizable != .any else {
            return .error(.invalidParameter)
        }
        nextNumber += 1
        let item = Item(
            number: nextNumber,
            itemClass: query.itemClass,
            group: query.group,
            isSynchronizable: query.synchronizable == .synchronizable,
            attributes: Self.stored(query.attributes, query.itemClass),
            value: value,
            policy: policy
        )
        guard let index = items.firstIndex(where: { Self.key($0) == Self.key(item) }) else {
            items.append(item)
            return .done
        }
        if ifExists == .fail { return .error(.duplicateItem) }
        items[index].value = value
        if ifExists == .replace {
            items[index].attributes = item.attributes
            items[index].policy = policy
        }
        return .done
    }

    private mutating func update(_ query: ModelQuery, _ changes: ModelOperation.ModelChanges) -> Answer {
        guard Self.isValid(query.attributes.values), Self.isValid(changes.attributes.values.compactMap { $0 }),
            !changes.isEmpty
        else { return .error(.invalidParameter) }
        let found = Set(matches(query).map(\.number))
        guard !found.isEmpty else { return .error(.itemNotFound) }
        let key = ContractTable.row(query.itemClass).key
        let changed = items.map { item in
            guard found.contains(item.number) else { return item }
            var item = item
            for (name, value) in changes.attributes {
                let bytes = value.map(Self.bytes)
                item.attributes[name] = bytes.flatMap { $0.isEmpty && key.contains(name) ? nil : $0 }
            }
            item.value = changes.value ?? item.value
            item.policy = changes.policy ?? item.policy
            item.isSynchronizable = changes.isSynchronizable ?? item.isSynchronizable
            return item
        }
        guard !Self.collides(changed) else { return .error(.duplicateItem) }
        items = changed
        return .count(found.count)
    }

    private mutating func transfer(_ query: ModelQuery, _ isMove: Bool, _ target: Int, _ ifExists: IfExists) -> Answer {
        guard Self.isValid(query.attributes.values) else { return .error(.invalidParameter) }
        let found = matches(query)
        guard !found.isEmpty else { return .error(.itemNotFound) }
        guard target != query.group else { return .count(found.count) }
        var after = items
        for item in found {
            var arrived = item
            arrived.group = target
            let taken = after.firstIndex { Self.key($0) == Self.key(arrived) }
            if taken != nil, ifExists == .fail { return .error(.duplicateItem) }
            if let taken, !isMove {
                after[taken].value = item.value
                if ifExists == .replace {
                    after[taken].attributes = item.attributes
                    after[taken].policy = item.policy
                }
                continue
            }
            if let taken {
                if ifExists == .replaceValue {
                    arrived.attributes = after[taken].attributes
                    arrived.policy = after[taken].policy
                }
                after.remove(at: taken)
            }
            if isMove {
                after.removeAll { $0.number == item.number }
                after.append(arrived)
            } else {
                nextNumber += 1
                after.append(
                    Item(
                        number: nextNumber,
                        itemClass: item.itemClass,
                        group: target,
                        isSynchronizable: item.isSynchronizable,
                        attributes: item.attributes,
                        value: item.value,
                        policy: item.policy
                    )
                )
            }
        }
        items = after
        return .count(found.count)
    }

    /// Takes what the store has told about an item.
    mutating func learn(_ number: Int, _ reference: UUID, _ created: Date, _ modified: Date) {
        guard let index = items.firstIndex(where: { $0.number == number }) else { return }
        items[index].known = (reference, created, modified)
    }
}
