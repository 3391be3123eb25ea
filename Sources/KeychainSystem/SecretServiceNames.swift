// SPDX-License-Identifier: MIT

package import KeychainAPI

/// The attributes by which the programs of a desktop know their internet passwords in the Secret Service.
package enum SecretServiceNames {
    /// The attribute that holds the name of an item's schema.
    package static let schema = "xdg:schema"
    /// The schema of GNOME's network passwords.
    package static let networkPasswordSchema = "org.gnome.keyring.NetworkPassword"
    private static let gitSchema = "org.git.Password"

    /// The names of an internet password's attributes.
    package static let internetPassword: [AttributeName: String] = [
        .server: "server", .account: "user", .protocol: "protocol", .port: "port", .path: "object",
        .securityDomain: "domain", .authenticationType: "authtype",
    ]

    /// Whether another program's item is an internet password, by the names that it uses.
    ///
    /// Such items have `server`, `user` and `protocol` (Git, oo7), or `server` and one of the two schemas that mean such
    /// a password, or such a schema with `protocol` and `object`, or they are those of a web form (``WebForm``).
    ///
    /// - Parameters:
    ///   - schema: The item's schema, nil if it has none.
    ///   - hasName: Whether the item has an attribute.
    package static func isInternetPassword(schema: String?, hasName: (String) -> Bool) -> Bool {
        guard !hasName("service") else { return false }
        if WebForm.isOne(hasName: hasName) { return true }
        let isKnown = schema == networkPasswordSchema || schema == gitSchema
        // The passphrase of a certificate, which Git keeps by the certificate's file alone.
        guard hasName("server") else { return isKnown && hasName("protocol") && hasName("object") }
        return isKnown || hasName("user") && hasName("protocol")
    }
}
