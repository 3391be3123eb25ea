// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Makes the sequences of a model check: few keys, so that verbs meet each other's items.
struct ModelGenerator {
    private var random: SeededGenerator
    private var nextValue = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    static let classes: [ItemClass] = [.genericPassword, .internetPassword, .key]

    private static let accents: [AttributeValue] = [.text("\u{E9}"), .text("e\u{301}")]

    /// The values that each attribute takes.
    private static func universe(_ itemClass: ItemClass) -> [(AttributeName, [AttributeValue])] {
        switch itemClass {
        case .internetPassword:
            [
                (.server, [.text(""), .text("h"), .text("sub.h")]), (.port, [.integer(0), .integer(8080)]),
                (.protocol, [.text("http")]), (.label, [.text("x"), .text("")]), (.isNegative, [.boolean(true)]),
            ]
        case .key:
            [
                (.keyClass, [.text("1"), .text("")]), (.applicationTag, [.data(Data()), .data(Data([0, 0xFF]))]),
                (.keySizeInBits, [.integer(256)]), (.canSign, [.boolean(true), .boolean(false)]),
                (.label, [.text("x")]),
            ]
        default:
            [
                (.service, [.text(""), .text("a"), .text("A")]), (.account, [.text(""), .text("x")] + accents),
                (.label, [.text("x"), .text("y")]), (.generic, [.data(Data()), .data(Data([0]))]),
                (.isInvisible, [.boolean(true), .boolean(false)]), (.creator, [.integer(0), .integer(7)]),
            ]
        }
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func value() -> Int {
        nextValue += 1
        return nextValue
    }

    private mutating func query(forStoring: Bool = false, group: Int? = nil) -> ModelQuery {
        let itemClass = Self.classes[[0, 0, 0, 1, 1, 2].randomElement(using: &random) ?? 0]
        var attributes: [AttributeName: AttributeValue] = [:]
        for (name, values) in Self.universe(itemClass) where chance(forStoring ? 60 : 35) {
            attributes[name] = values.randomElement(using: &random)
        }
        if chance(2) { attributes[.label] = .text("nul\0") }
        let marks: [Synchronizability?] = [nil, nil, nil, nil, .local, .synchronizable, .synchronizable, .any]
        var mark = marks.randomElement(using: &random) ?? nil
        if forStoring, mark == .any, !chance(10) { mark = nil }
        return ModelQuery(
            itemClass: itemClass,
            group: group ?? (chance(70) ? 0 : 1),
            synchronizable: mark,
            attributes: attributes,
            place: !forStoring && chance(8) ? Int.random(in: 0..<4, using: &random) : nil
        )
    }

    private mutating func changes(_ itemClass: ItemClass) -> ModelOperation.ModelChanges {
        var changes = ModelOperation.ModelChanges()
        for (name, values) in Self.universe(itemClass) where chance(25) {
            changes.attributes[name] = .some(chance(30) ? nil : values.randomElement(using: &random))
        }
        if chance(30) { changes.value = value() }
        if chance(15) { changes.policy = Int.random(in: 0..<3, using: &random) }
        if chance(12) { changes.isSynchronizable = chance(50) }
        return changes
    }

    mutating func operations(_ count: Int) -> [ModelOperation] {
        (0..<count).map { _ in operation(nil) }
    }

    private mutating func operation(_ group: Int?) -> ModelOperation {
        let ifExists = IfExists.allCases.randomElement(using: &random) ?? .fail
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<34:
            let policy = Int.random(in: 0..<3, using: &random)
            return .store(query(forStoring: true, group: group), value: value(), policy: policy, ifExists)
        case 34..<52:
            let query = query(group: group)
            return .update(query, changes(query.itemClass))
        case 52..<58: return .retrieve(query(group: group))
        case 58..<63: return .retrieveAll(query(group: group))
        case 63..<67: return .info(query(group: group))
        case 67..<71: return .infoAll(query(group: group))
        case 71..<75: return .contains(query(group: group))
        case 75..<84: return .remove(query(group: group))
        case 84..<86:
            let itemClass = chance(75) ? Self.classes.randomElement(using: &random) : nil
            return .removeAll(itemClass, group: group ?? (chance(50) ? 0 : 1), includingSynchronizable: chance(40))
        case 86..<94:
            let target = Int.random(in: 0..<2, using: &random)
            return .transfer(query(group: group), isMove: chance(50), to: group ?? target, ifExists)
        default:
            guard group == nil else { return .contains(query(group: group)) }
            let count = Int.random(in: 0..<6, using: &random)
            return .transaction((0..<count).map { _ in operation(0) }, group: 0, fails: chance(30))
        }
    }

    /// The bytes of a value by its number.
    static func bytes(_ number: Int) -> Data {
        var random = SeededGenerator(seed: UInt64(number))
        let sizes = [0, 1, 3, 16, 100, 1_000, 4_097]
        return Data((0..<sizes[number % sizes.count]).map { _ in UInt8(truncatingIfNeeded: random.next() >> 20) })
    }

    /// A policy by its number.
    static func policy(_ number: Int) -> AccessPolicy {
        [.default, AccessPolicy(.whenUnlocked), AccessPolicy(.whenUnlockedThisDeviceOnly)][number]
    }
}
