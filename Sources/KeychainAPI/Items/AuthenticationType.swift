// SPDX-License-Identifier: MIT

/// How a server asks for an internet password.
///
/// The raw value is Apple's four-character code; a value without a constant here is kept as it is.
public struct AuthenticationType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The four-character code.
    public let rawValue: String

    /// Makes a type from its four-character code.
    ///
    /// - Parameter rawValue: The code, for example `form`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Windows NT LAN Manager.
    public static let ntlm = AuthenticationType(rawValue: "ntlm")
    /// Microsoft Network.
    public static let msna = AuthenticationType(rawValue: "msna")
    /// Distributed password.
    public static let dpa = AuthenticationType(rawValue: "dpaa")
    /// Remote password.
    public static let rpa = AuthenticationType(rawValue: "rpaa")
    /// HTTP Basic (RFC 7617).
    public static let httpBasic = AuthenticationType(rawValue: "http")
    /// HTTP Digest (RFC 7616).
    public static let httpDigest = AuthenticationType(rawValue: "httd")
    /// HTML form.
    public static let htmlForm = AuthenticationType(rawValue: "form")
    /// The default of the protocol.
    public static let `default` = AuthenticationType(rawValue: "dflt")

    /// The code.
    public var description: String { rawValue }
}
