// SPDX-License-Identifier: MIT

import FoundationEssentials
package import KeychainAPI

/// The text that stands for an attribute in the Secret Service, which keeps nothing but texts.
///
/// Numbers are in decimal, truth values are `true` and `false`, bytes are in base 64, and text is as it is. Two
/// attributes that other programs share have the forms that those expect:
/// - `protocol` is a URL scheme (`https`), not Apple's code (`htps`). A code that has no scheme stays as it is,
///   unless it could be taken for a scheme: then `code:` is put in front.
/// - `object` is a path without its leading slash, as Git has it. A path without one gets `./` in front, and
///   one that begins with `//` or `/./`, or is only `/`, stays as it is.
package enum AttributeText {
    package static func text(of value: AttributeValue, _ attribute: AttributeName, in itemClass: ItemClass) -> String {
        switch (value, attribute, itemClass) {
        case (.text(let code), .protocol, .internetPassword): scheme(code)
        case (.text(let path), .path, .internetPassword): object(path)
        case (.text(let text), _, _): text
        case (.data(let data), _, _): data.base64EncodedString()
        case (.integer(let number), _, _): String(number)
        case (.boolean(let flag), _, _): flag ? "true" : "false"
        }
    }

    /// The attribute that a text stands for, nil if the text cannot be one.
    package static func value(
        _ text: String,
        _ attribute: AttributeSchema.Attribute,
        in itemClass: ItemClass
    ) -> AttributeValue? {
        switch (attribute.form, attribute.name, itemClass) {
        case (.text, .protocol, .internetPassword): .text(code(text))
        case (.text, .path, .internetPassword): .text(path(text))
        case (.text, _, _): .text(text)
        case (.data, _, _): Data(base64Encoded: text).map { .data($0) }
        case (.integer, _, _): Int64(text).map { .integer($0) }
        case (.boolean, _, _): text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
        }
    }

    private static let codePrefix = "code:"

    private static func scheme(_ code: String) -> String {
        if let scheme = ProtocolType(rawValue: code).scheme { return scheme }
        return ProtocolType(scheme: code) != nil || code.hasPrefix(codePrefix) ? codePrefix + code : code
    }

    private static func code(_ text: String) -> String {
        if text.hasPrefix(codePrefix) { return String(text.dropFirst(codePrefix.count)) }
        return ProtocolType(scheme: text)?.rawValue ?? text
    }

    private static func object(_ path: String) -> String {
        if path.isEmpty || path == "/" || path.hasPrefix("//") || path.hasPrefix("/./") { return path }
        return path.hasPrefix("/") ? String(path.dropFirst()) : "./" + path
    }

    private static func path(_ object: String) -> String {
        if object.isEmpty || object.hasPrefix("/") { return object }
        return object.hasPrefix("./") ? String(object.dropFirst(2)) : "/" + object
    }
}
