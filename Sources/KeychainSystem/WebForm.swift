// SPDX-License-Identifier: MIT

import FoundationEssentials
package import KeychainAPI

/// The password of a web form, as GNOME Web keeps it: by an origin, and by the names of the form's fields.
///
/// GNOME Web leaves out what has no `id`, `uri`, `target_origin` or `server_time_modified`.
package enum WebForm {
    /// The name of the schema, by which GNOME Web searches.
    package static let schema = "org.epiphany.FormPassword"
    /// The attribute that names the item.
    package static let identifierName = "id"
    /// The attribute that holds the origin of the page.
    package static let originName = "uri"
    /// The attribute that holds the origin to which the form is sent.
    package static let targetName = "target_origin"
    /// The attribute that holds the account; left out without one.
    package static let accountName = "username"
    /// The attribute that holds the name of the field for the account; left out without an account.
    package static let accountFieldName = "form_username"
    /// The attribute that holds the name of the field for the password.
    package static let passwordFieldName = "form_password"
    /// The attribute that holds a number of GNOME Web's own synchronization.
    package static let synchronizationName = "server_time_modified"

    /// Whether another program's item is the password of a web form, by the names that it uses.
    package static func isOne(hasName: (String) -> Bool) -> Bool {
        [identifierName, originName, targetName, synchronizationName].allSatisfy(hasName)
    }

    /// The attributes of the internet password that such an item is.
    ///
    /// - Parameter value: The value of an attribute, nil if the item does not have it.
    /// - Returns: nil if its origin is none.
    package static func attributes(of value: (String) -> String?) -> AttributeSet? {
        guard let space = value(originName).flatMap(space) else { return nil }
        var attributes = AttributeSet()
        attributes[.server] = .text(space.host)
        attributes[.protocol] = space.protocol.map { .text($0.rawValue) }
        attributes[.port] = space.port.map { .integer(Int64($0)) }
        attributes[.account] = value(accountName).map { .text($0) }
        attributes[.authenticationType] = .text(AuthenticationType.htmlForm.rawValue)
        return attributes
    }

    /// The origin of the page whose form an internet password is for; nil if it is for something else.
    ///
    /// - Parameter attributes: Its attributes.
    package static func origin(of attributes: AttributeSet) -> String? {
        guard text(.authenticationType, attributes) == AuthenticationType.htmlForm.rawValue,
            text(.path, attributes).isEmpty, text(.securityDomain, attributes).isEmpty,
            let scheme = scheme(attributes)
        else { return nil }
        let host = text(.server, attributes)
        var origin = "\(scheme)://" + (host.contains(":") ? "[\(host)]" : host)
        if case .integer(let port)? = attributes[.port], port != 0, port != defaultPorts[scheme] {
            origin += ":\(port)"
        }
        // What does not come back from it would be the origin of another host.
        guard let space = space(origin), space.host.utf8.elementsEqual(host.utf8) else { return nil }
        return origin
    }

    /// The label that GNOME Web gives such an item.
    package static func label(of attributes: AttributeSet) -> String? {
        guard let origin = origin(of: attributes) else { return nil }
        let account = text(.account, attributes)
        return account.isEmpty ? "Password in a form in \(origin)" : "Password for \(account) in a form in \(origin)"
    }

    private static let defaultPorts: [String: Int64] = ["http": 80, "https": 443]

    private static func scheme(_ attributes: AttributeSet) -> String? {
        ProtocolType(rawValue: text(.protocol, attributes)).scheme.flatMap { defaultPorts[$0] == nil ? nil : $0 }
    }

    private static func space(_ origin: String) -> WebProtectionSpace? {
        guard let url = URL(string: origin), let space = try? WebProtectionSpace(url: url), space.path == nil,
            let scheme = space.protocol?.scheme, defaultPorts[scheme] != nil
        else { return nil }
        return space
    }

    private static func text(_ name: AttributeName, _ attributes: AttributeSet) -> String {
        if case .text(let text)? = attributes[name] { text } else { "" }
    }
}
