// SPDX-License-Identifier: MIT

import FoundationEssentials

extension SecItemQuery where Value == InternetPassword {
    /// The password of an account of a website, as browsers keep it for the website's form.
    ///
    /// An internet password of the site's host, protocol and port with ``AuthenticationType/htmlForm``, and nothing else.
    ///
    /// - Parameters:
    ///   - site: The host, as in `example.com`, which is reached by HTTPS; or an origin, as in
    ///     `https://example.com:8443`.
    ///   - account: The account; left out, any.
    /// - Throws: `invalidParameter` for what is no website, and for a URL with more than an origin.
    public static func webCredential(for site: String, account: String? = nil) throws(KeychainError) -> SecItemQuery {
        let text = site.contains("://") ? site : "https://\(site)"
        let parts = URLComponents(string: text)
        guard let parts, let url = parts.url, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil, case let space = try WebProtectionSpace(url: url), space.path == nil,
            let type = space.protocol, [.http, .https].contains(type)
        else {
            throw KeychainError(
                .invalidParameter,
                "A website is a host or an origin, as in example.com or https://example.com:8443, without a path."
            )
        }
        var query = SecItemQuery()
        query.account = account
        query.server = space.host
        query.protocol = type
        // The default is what is left out: 0 is that, and no wildcard.
        query.port = space.port.flatMap { $0 == (type == .https ? 443 : 80) ? nil : $0 } ?? 0
        query.path = ""
        query.securityDomain = ""
        query.authenticationType = .htmlForm
        return query
    }
}
