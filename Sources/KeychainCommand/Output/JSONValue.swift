// SPDX-License-Identifier: MIT

/// What stands in an object of the output; typed, so that all of it can be written.
enum JSONValue: Encodable {
    case text(String)
    case number(Int64)
    case flag(Bool)

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        }
    }
}
