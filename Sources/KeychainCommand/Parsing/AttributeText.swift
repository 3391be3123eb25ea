// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// The values of attributes as a person writes and reads them: what is printed can be typed in again.
enum AttributeText {
    /// What stands for a value in the help.
    static func placeholder(_ name: AttributeName, _ form: AttributeValue.Form) -> String {
        switch (name, form) {
        case (.creator, _), (.type, _): "CODE"
        case (.protocol, _): "SCHEME"
        case (.keyClass, _): "public|private|symmetric"
        case (.keyType, _): "rsa|ec"
        case (.accessible, _): "WHEN"
        case (_, .text): "TEXT"
        case (_, .data): "BASE64"
        case (_, .integer): "NUMBER"
        case (_, .boolean): "yes|no"
        }
    }

    /// Reads a value.
    ///
    /// - Throws: `invalidParameter` for text that is no value of the attribute; the text is not repeated.
    static func parse(_ text: String, _ option: AttributeOption) throws(KeychainError) -> AttributeValue {
        switch (option.name, option.form) {
        case (.creator, _), (.type, _):
            // The number first: ‘0xff’ is one, although it is four characters too.
            if text.hasPrefix("0x"), !text.hasPrefix("0x+"), let number = UInt32(text.dropFirst(2), radix: 16) {
                return .integer(Int64(number))
            }
            if !text.hasPrefix("0x"), let code = FourCharCode(text) { return .integer(Int64(code.rawValue)) }
            throw invalid(option, "a code of four ASCII characters, or 0x and a number in hexadecimal")
        case (.protocol, _):
            return .text(ProtocolType(scheme: text)?.rawValue ?? text)
        case (.keyClass, _):
            let known: [KeyClass] = [.public, .private, .symmetric]
            return .text(known.first { $0.description == text }?.rawValue ?? text)
        case (.keyType, _):
            let known: [KeyType] = [.rsa, .ecsecPrimeRandom]
            return .text(known.first { $0.description.lowercased() == text.lowercased() }?.rawValue ?? text)
        case (.accessible, _):
            guard let known = AccessPolicy.Accessibility.allCases.first(where: { name(of: $0) == text }) else {
                throw invalid(option, AccessPolicy.Accessibility.allCases.map(name(of:)).joined(separator: ", "))
            }
            return .text(known.rawValue)
        case (_, .text):
            return .text(text)
        case (_, .data):
            guard let data = Data(base64Encoded: text) else { throw invalid(option, "bytes in base64") }
            return .data(data)
        case (_, .integer):
            guard let number = DecimalText.integer(text) else { throw invalid(option, "a whole number") }
            return .integer(number)
        case (_, .boolean):
            return .boolean(try yesOrNo(text, "--" + option.optionName))
        }
    }

    /// Reads `yes` or `no`.
    static func yesOrNo(_ text: String, _ option: String) throws(KeychainError) -> Bool {
        switch text {
        case "yes": return true
        case "no": return false
        default: throw KeychainError(.invalidParameter, "‘\(option)’ takes yes or no.")
        }
    }

    /// A value as text.
    static func format(_ value: AttributeValue, _ name: AttributeName) -> String {
        switch (name, value) {
        case (.creator, .integer(let number)), (.type, .integer(let number)):
            UInt32(exactly: number).map { FourCharCode(rawValue: $0).description } ?? "\(number)"
        case (.protocol, .text(let text)): ProtocolType(rawValue: text).description
        case (.keyClass, .text(let text)): KeyClass(rawValue: text).description
        case (.keyType, .text(let text)): KeyType(rawValue: text).description.lowercased()
        case (.accessible, .text(let text)): AccessPolicy.Accessibility(rawValue: text).map(Self.name(of:)) ?? text
        case (_, .text(let text)): text
        case (_, .data(let data)): data.base64EncodedString()
        case (_, .integer(let number)): "\(number)"
        case (_, .boolean(let flag)): flag ? "yes" : "no"
        }
    }

    /// The name of an accessibility, for example `when-unlocked`.
    static func name(of accessibility: AccessPolicy.Accessibility) -> String {
        AttributeOption.kebabCase("\(accessibility)")
    }

    private static func invalid(_ option: AttributeOption, _ expected: String) -> KeychainError {
        KeychainError(.invalidParameter, "‘--\(option.optionName)’ takes \(expected).")
    }
}
