// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import KeychainSystem

/// What Git tells a credential helper (git-credential(1), “INPUT/OUTPUT FORMAT”).
struct GitCredential {
    /// The lines `key=value`; of a key that comes twice the last one counts.
    private var values: [String: String] = [:]

    /// Reads lines up to an empty one.
    ///
    /// - Parameter text: The input; lines that end with a carriage return are taken as they are.
    /// - Throws: `invalidParameter` for a line that is none, and for NUL; nothing of it is repeated.
    init(_ text: String) throws(KeychainError) {
        for line in text.scalarLines {
            if line.isEmpty { break }
            guard let (key, value) = line.halves(at: "="), !key.isEmpty, !line.utf8.contains(0) else {
                throw KeychainError(.invalidParameter, "A line of the input is not of the form key=value.")
            }
            values[key] = value
        }
    }

    /// The user, nil if Git does not know one.
    var username: String? { values["username"] }
    /// The password, nil if Git does not know one.
    var password: String? { values["password"] }
    /// Whether the credential is meant to be forgotten.
    var isEphemeral: Bool { values["ephemeral"] == "1" }

    /// What is kept with the password, as lines of the form in which it came.
    var extraLines: [String] {
        Self.keptKeys.compactMap { key in values[key].map { "\(key)=\($0)" } }
    }

    private static let keptKeys = ["password_expiry_utc", "oauth_refresh_token"]

    /// The items that are meant; nil if Git says too little, as without a protocol.
    ///
    /// A port that is not named is no other one, but a path that is not named is any: Git only names it with
    /// `credential.useHttpPath`.
    var query: SecItemQuery<InternetPassword>? {
        guard let scheme = values["protocol"], !scheme.isEmpty, values["host"] != nil || values["path"] != nil else {
            return nil
        }
        var query = SecItemQuery<InternetPassword>()
        query.protocol = ProtocolType(scheme: scheme) ?? ProtocolType(rawValue: scheme)
        let (host, port) = Self.hostAndPort(values["host"] ?? "")
        query.server = host
        query.port = port ?? 0
        if let path = values["path"], !path.isEmpty { query.path = path.isAbsolutePath ? path : "/\(path)" }
        query.account = username
        return query
    }

    /// What a person sees of the item.
    var label: String {
        let path = values["path"].map { $0.isAbsolutePath ? $0 : "/\($0)" } ?? ""
        return "Git: \(values["protocol"] ?? "")://\(values["host"] ?? "")\(path)"
    }

    /// As in a URL: the host in lower case, an IPv6 address without its brackets.
    private static func hostAndPort(_ text: String) -> (host: String, port: Int?) {
        var host = text[...]
        var port: Int?
        if let colon = text.lastIndex(of: ":"), let number = UInt16(text[text.index(after: colon)...]),
            text.hasPrefix("[") ? text[..<colon].hasSuffix("]") : text.firstIndex(of: ":") == colon
        {
            host = text[..<colon]
            port = Int(number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return (host.lowercased(), port)
    }
}

/// What is stored for Git: the password, and below it the lines that belong to it.
///
/// As Git's own helper for the Secret Service has it, so that each reads the other's; and not in attributes, which would
/// not be changed together with the password where only the value is replaced.
struct GitSecret {
    /// The password.
    let password: String
    /// The lines below it.
    let extraLines: [String]

    /// Takes a value apart.
    ///
    /// - Throws: `decode` if it is not UTF-8.
    init(_ value: SecureBytes) throws(KeychainError) {
        let lines = try value.text.scalarLines
        password = lines[0]
        extraLines = lines.dropFirst().filter { $0.halves(at: "=") != nil }
    }

    /// Whether it is of no use any more.
    var isExpired: Bool {
        extraLines.contains { line in
            guard let (key, value) = line.halves(at: "="), key == "password_expiry_utc", let moment = Int64(value)
            else {
                return false
            }
            return Double(moment) < Date().timeIntervalSince1970
        }
    }
}
