// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// What an internet password is for: a server, and what on it.
public struct WebProtectionSpace: Hashable, Sendable {
    /// The host name or address.
    public let host: String
    /// The port, nil if it is left out.
    public let port: Int?
    /// The protocol, nil if it is left out.
    public let `protocol`: ProtocolType?
    /// How the server asks, nil if it is left out.
    public let authenticationType: AuthenticationType?
    /// The path, nil if it is left out.
    public let path: String?
    /// The realm, nil if it is left out.
    public let securityDomain: String?

    /// Makes a space.
    ///
    /// - Parameters:
    ///   - host: The host name or address, taken as it is.
    ///   - port: The port.
    ///   - protocol: The protocol.
    ///   - authenticationType: How the server asks.
    ///   - path: The path.
    ///   - securityDomain: The realm.
    public init(
        host: String,
        port: Int? = nil,
        protocol: ProtocolType? = nil,
        authenticationType: AuthenticationType? = nil,
        path: String? = nil,
        securityDomain: String? = nil
    ) {
        self.host = host
        self.port = port
        self.protocol = `protocol`
        self.authenticationType = authenticationType
        self.path = path
        self.securityDomain = securityDomain
    }

    /// A website: a host and nothing else.
    ///
    /// - Parameter host: The fully qualified host name.
    public static func website(_ host: String) -> WebProtectionSpace {
        WebProtectionSpace(host: host)
    }

    /// Makes a space from a URL: its scheme, host, port and path.
    ///
    /// The host is lower-cased (RFC 3986, 3.2.2), brackets around an IPv6 address are dropped, and so is a path that
    /// is only `/`. User, password, query and fragment of the URL are ignored.
    ///
    /// - Parameter url: For example `https://example.com:8443/api`.
    /// - Throws: `invalidParameter` without a host, for a scheme that is no ``ProtocolType``, for a port that is no number
    ///   up to 65535, or if the path is not UTF-8 when its escapes are decoded.
    public init(url: URL) throws(KeychainError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let scheme = parts.scheme,
            let host = parts.host, !host.isEmpty
        else {
            throw KeychainError(.invalidParameter, "The URL needs a scheme and a host, as in https://example.com.")
        }
        guard let type = ProtocolType(scheme: scheme) else {
            throw KeychainError(
                .invalidParameter,
                "‘\(scheme)’ is no protocol of internet passwords. Use https, imap, ssh or another known scheme."
            )
        }
        // Foundation has no port for one that overflows, and no path for one that is not UTF-8: both would be any.
        guard (parts.port ?? 0) <= 65535, parts.port != nil || parts.rangeOfPort == nil else {
            throw KeychainError(.invalidParameter, "The URL's port is a number from 0 to 65535.")
        }
        let path = parts.path
        guard path.isEmpty == parts.percentEncodedPath.isEmpty else {
            throw KeychainError(.invalidParameter, "The URL's path is not UTF-8 when its escapes (%) are decoded.")
        }
        let trimmed = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.init(
            host: trimmed.lowercased(),
            port: parts.port,
            protocol: type,
            path: path.isEmpty || path == "/" ? nil : path
        )
    }
}
