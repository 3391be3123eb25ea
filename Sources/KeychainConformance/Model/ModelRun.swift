// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Runs a sequence of verbs on a store and on the reference model, and compares every answer and every state.
struct ModelRun {
    private struct Abandoned: Error {}

    let bench: Bench
    private var model = ReferenceModel()

    init(_ bench: Bench) {
        self.bench = bench
    }

    private func group(_ number: Int, of keychain: Keychain) -> Keychain {
        let keychain = keychain.with {
            $0.accessGroup = number == 0 ? bench.keychain.accessGroup : bench.inGroup("second").accessGroup
        }
        return keychain
    }

    /// Runs the verbs.
    ///
    /// - Throws: ``ConformanceFailure`` at the first difference.
    mutating func run(_ operations: [ModelOperation]) throws {
        for operation in operations { try step(operation, bench.keychain) }
    }

    private mutating func step(_ operation: ModelOperation, _ keychain: Keychain) throws {
        if case .transaction(let operations, let number, let fails) = operation {
            return try transaction(operations, fails, group(number, of: keychain), operation)
        }
        let before = model
        let expected = model.perform(operation)
        let actual = try answer(operation, keychain, before)
        try expect(actual == expected, "\(operation): expected \(expected), got \(actual)")
        try compare(keychain, after: operation, mayTouch: expected.isSuccess)
    }

    private mutating func transaction(
        _ operations: [ModelOperation],
        _ fails: Bool,
        _ keychain: Keychain,
        _ operation: ModelOperation
    ) throws {
        guard keychain.capabilities.contains(.transactions) else {
            try expectThrows(.unsupported, from: .transaction, "\(operation)") {
                try keychain.transaction { _ in }
            }
            return
        }
        var inner = self
        do {
            try keychain.transaction { keychain in
                for operation in operations { try inner.step(operation, keychain) }
                if fails { throw Abandoned() }
            }
            model = inner.model
        } catch is Abandoned {}
        try compare(bench.keychain, after: operation, mayTouch: true)
    }

    // MARK: What the store answers

    private func answer(
        _ operation: ModelOperation,
        _ keychain: Keychain,
        _ model: ReferenceModel
    ) throws -> ReferenceModel.Answer {
        do {
            switch operation {
            case .removeAll(let itemClass, let number, let includingSynchronizable):
                let keychain = group(number, of: keychain)
                switch itemClass {
                case nil: try keychain.removeAll(includingSynchronizable: includingSynchronizable)
                case .internetPassword?:
                    try keychain.removeAll(of: InternetPassword.self, includingSynchronizable: includingSynchronizable)
                case .key?: try keychain.removeAll(of: SecKey.self, includingSynchronizable: includingSynchronizable)
                default:
                    try keychain.removeAll(of: GenericPassword.self, includingSynchronizable: includingSynchronizable)
                }
                return .done
            case .store(let query, _, _, _), .update(let query, _), .retrieve(let query), .retrieveAll(let query),
                .info(let query), .infoAll(let query), .contains(let query), .remove(let query),
                .transfer(let query, _, _, _):
                let keychain = group(query.group, of: keychain)
                return switch query.itemClass {
                case .internetPassword: try answer(InternetPassword.self, operation, query, keychain, model)
                case .key: try answer(SecKey.self, operation, query, keychain, model)
                default: try answer(GenericPassword.self, operation, query, keychain, model)
                }
            case .transaction: return .done
            }
        } catch let error as KeychainError {
            return .error(error.code)
        }
    }

    private func answer<Item: SecStorable>(
        _: Item.Type,
        _ operation: ModelOperation,
        _ asked: ModelQuery,
        _ keychain: Keychain,
        _ model: ReferenceModel
    ) throws -> ReferenceModel.Answer {
        var query = SecItemQuery<Item>()
        for (name, value) in asked.attributes { query[name] = value }
        query.synchronizable = asked.synchronizable
        query.persistentReference = model.named(asked)?.known.map { PersistentReference(uuid: $0.reference) }
        let number = { (info: SecItemInfo<Item>) -> Int in
            model.items.first { $0.known?.reference == info.persistentReference.uuid }?.number ?? -1
        }
        switch operation {
        case .store(_, let value, let policy, let ifExists):
            let policy = ModelGenerator.policy(policy)
            try keychain.store(ModelGenerator.bytes(value), query: query, accessPolicy: policy, ifExists: ifExists)
            return .done
        case .update(_, let changes):
            var update = SecItemUpdate<Item>()
            for (name, value) in changes.attributes { update.set(name, to: value) }
            if let value = changes.value { update.setValue(ModelGenerator.bytes(value)) }
            update.accessPolicy = changes.policy.map(ModelGenerator.policy)
            update.isSynchronizable = changes.isSynchronizable
            return .count(try keychain.update(query, update))
        case .retrieve:
            guard case .dictionary(let info)? = try keychain.retrieve(.all, query: query) else { return .items([]) }
            let value: Data? = try keychain.retrieve(query)
            try expectValue(value, info.data, "Both forms of retrieve give one value")
            return .items([number(info)])
        case .retrieveAll:
            return .items(
                try keychain.retrieveAll(query: query).map {
                    if case .dictionary(let info) = $0 { number(info) } else { -1 }
                }
            )
        case .info: return .items(try keychain.info(for: query).map { [number($0)] } ?? [])
        case .infoAll: return .items(try keychain.infoAll(for: query).map(number))
        case .contains: return .flag(try keychain.contains(query))
        case .remove: return .flag(try keychain.remove(query))
        case .transfer(_, let isMove, let target, let ifExists):
            let target = group(target, of: keychain)
            return .count(
                isMove
                    ? try keychain.move(query, to: target, ifExists: ifExists)
                    : try keychain.copy(query, to: target, ifExists: ifExists)
            )
        case .removeAll, .transaction: return .done
        }
    }

    // MARK: What the store holds

    /// Compares the whole state, and learns references and dates of new items.
    private mutating func compare(_ keychain: Keychain, after operation: ModelOperation, mayTouch: Bool) throws {
        for number in 0..<2 {
            let keychain = group(number, of: keychain)
            try compare(GenericPassword.self, number, keychain, operation, mayTouch)
            try compare(InternetPassword.self, number, keychain, operation, mayTouch)
            try compare(SecKey.self, number, keychain, operation, mayTouch)
        }
    }

    private mutating func compare<Item: SecStorable>(
        _: Item.Type,
        _ number: Int,
        _ keychain: Keychain,
        _ operation: ModelOperation,
        _ mayTouch: Bool
    ) throws {
        let place = "after \(operation), \(Item.itemClass) in group \(number)"
        let held = try keychain.retrieveAll(query: SecItemQuery<Item>().synchronizable(.any))
        let expected = model.items.filter { $0.itemClass == Item.itemClass && $0.group == number }
        try expectEqual(held.count, expected.count, "The number of items \(place)")
        var order: [(date: Date, reference: String)] = []
        for case .dictionary(let info) in held {
            let attributes = Dictionary(info.attributes.map { ($0.name, ReferenceModel.bytes($0.value)) }) { $1 }
            let item = expected.first { item in
                item.isSynchronizable == info.isSynchronizable
                    && ContractTable.row(Item.itemClass).key.allSatisfy { item.attributes[$0] == attributes[$0] }
            }
            let found = try unwrap(item, "An item that should not be there \(place)")
            try expect(found.attributes == attributes, "The attributes \(place)")
            try expectValue(info.data, ModelGenerator.bytes(found.value), "The value \(place)")
            try expect(info.accessPolicy == ModelGenerator.policy(found.policy), "The policy \(place)")
            if let known = found.known {
                try expect(known.reference == info.persistentReference.uuid, "The reference \(place)")
                try expect(known.created == info.creationDate, "The creation date \(place)")
                let moved = info.modificationDate > known.modified
                try expect(
                    info.modificationDate == known.modified || (moved && mayTouch),
                    "The modification date neither goes back nor moves without a change \(place)"
                )
            }
            model.learn(found.number, info.persistentReference.uuid, info.creationDate, info.modificationDate)
            order.append((info.creationDate, info.persistentReference.uuid.uuidString))
        }
        try expect(order.elementsEqual(order.sorted { $0 < $1 }, by: ==), "The order of results \(place)")
        try expectEqual(order.count, expected.count, "Every item shows its attributes \(place)")
    }
}

extension ReferenceModel.Answer {
    /// Whether the verb may have changed something.
    fileprivate var isSuccess: Bool { if case .error = self { false } else { true } }
}
