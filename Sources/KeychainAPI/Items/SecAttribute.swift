// SPDX-License-Identifier: MIT

import FoundationEssentials

/// An attribute with the type of its values, as queries, updates and infos show it.
///
/// You do not make attributes: write the name of one after a query, as in `query.account = "bob"`.
public struct SecAttribute<Value>: Sendable {
    /// The name under which drivers store the attribute.
    public let name: AttributeName
    let encode: @Sendable (Value) -> AttributeValue
    let decode: @Sendable (AttributeValue) -> Value?
}

extension SecAttribute where Value == String {
    static func text(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .text($0) }) { if case .text(let text) = $0 { text } else { nil } }
    }
}

extension SecAttribute where Value == Data {
    static func data(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .data($0) }) { if case .data(let data) = $0 { data } else { nil } }
    }
}

extension SecAttribute where Value == Int {
    static func integer(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .integer(Int64($0)) }) {
            if case .integer(let number) = $0 { Int(exactly: number) } else { nil }
        }
    }
}

extension SecAttribute where Value == FourCharCode {
    static func fourCharCode(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .integer(Int64($0.rawValue)) }) {
            guard case .integer(let number) = $0 else { return nil }
            return UInt32(exactly: number).map(FourCharCode.init(rawValue:))
        }
    }
}

extension SecAttribute where Value == Bool {
    static func boolean(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .boolean($0) }) { if case .boolean(let flag) = $0 { flag } else { nil } }
    }
}

extension SecAttribute where Value: RawRepresentable & Sendable, Value.RawValue == String {
    static func named(_ name: AttributeName) -> SecAttribute {
        SecAttribute(name: name, encode: { .text($0.rawValue) }) {
            if case .text(let text) = $0 { Value(rawValue: text) } else { nil }
        }
    }
}
