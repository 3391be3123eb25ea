// SPDX-License-Identifier: MIT

public import SwiftKeychain

/// Someone's account on a server, without its token.
public struct Account: Hashable, Sendable {
    /// The host name of the server.
    public let server: String
    /// The name of the account.
    public let name: String

    /// Makes an account.
    ///
    /// - Parameters:
    ///   - server: The host name of the server.
    ///   - name: The name of the account.
    public init(server: String, name: String) {
        self.server = server
        self.name = name
    }

    /// Every account of this application: the realm tells them from the user's other passwords.
    static var all: SecItemQuery<InternetPassword> {
        var query = SecItemQuery<InternetPassword>()
        query.protocol = .https
        query.securityDomain = "com.example.desktop"
        return query
    }

    /// The item of this account.
    public var query: SecItemQuery<InternetPassword> {
        var query = Self.all
        query.server = server
        query.account = name
        return query
    }
}
