// SPDX-License-Identifier: MIT

/// The protocol of an internet password.
///
/// The raw value is Apple's four-character code; a value without a constant here is kept as it is.
public struct ProtocolType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The four-character code.
    public let rawValue: String

    /// Makes a protocol from its four-character code.
    ///
    /// - Parameter rawValue: The code, for example `htps`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// FTP.
    public static let ftp = ProtocolType(rawValue: "ftp ")
    /// FTP account.
    public static let ftpAccount = ProtocolType(rawValue: "ftpa")
    /// HTTP.
    public static let http = ProtocolType(rawValue: "http")
    /// IRC.
    public static let irc = ProtocolType(rawValue: "irc ")
    /// NNTP.
    public static let nntp = ProtocolType(rawValue: "nntp")
    /// POP3.
    public static let pop3 = ProtocolType(rawValue: "pop3")
    /// SMTP.
    public static let smtp = ProtocolType(rawValue: "smtp")
    /// SOCKS.
    public static let socks = ProtocolType(rawValue: "sox ")
    /// IMAP.
    public static let imap = ProtocolType(rawValue: "imap")
    /// LDAP.
    public static let ldap = ProtocolType(rawValue: "ldap")
    /// AFP over AppleTalk.
    public static let appleTalk = ProtocolType(rawValue: "atlk")
    /// AFP over TCP.
    public static let afp = ProtocolType(rawValue: "afp ")
    /// Telnet.
    public static let telnet = ProtocolType(rawValue: "teln")
    /// SSH.
    public static let ssh = ProtocolType(rawValue: "ssh ")
    /// FTP over TLS.
    public static let ftps = ProtocolType(rawValue: "ftps")
    /// HTTP over TLS.
    public static let https = ProtocolType(rawValue: "htps")
    /// HTTP proxy.
    public static let httpProxy = ProtocolType(rawValue: "htpx")
    /// HTTPS proxy.
    public static let httpsProxy = ProtocolType(rawValue: "htsx")
    /// FTP proxy.
    public static let ftpProxy = ProtocolType(rawValue: "ftpx")
    /// SMB.
    public static let smb = ProtocolType(rawValue: "smb ")
    /// RTSP.
    public static let rtsp = ProtocolType(rawValue: "rtsp")
    /// RTSP proxy.
    public static let rtspProxy = ProtocolType(rawValue: "rtsx")
    /// DAAP.
    public static let daap = ProtocolType(rawValue: "daap")
    /// Remote Apple Events.
    public static let eppc = ProtocolType(rawValue: "eppc")
    /// IPP.
    public static let ipp = ProtocolType(rawValue: "ipp ")
    /// NNTP over TLS.
    public static let nntps = ProtocolType(rawValue: "ntps")
    /// LDAP over TLS.
    public static let ldaps = ProtocolType(rawValue: "ldps")
    /// Telnet over TLS.
    public static let telnetS = ProtocolType(rawValue: "tels")
    /// IMAP over TLS.
    public static let imaps = ProtocolType(rawValue: "imps")
    /// IRC over TLS.
    public static let ircs = ProtocolType(rawValue: "ircs")
    /// POP3 over TLS.
    public static let pop3S = ProtocolType(rawValue: "pops")

    private static let schemes: [(protocol: ProtocolType, scheme: String)] = [
        (.ftp, "ftp"),
        (.http, "http"),
        (.irc, "irc"),
        (.nntp, "nntp"),
        (.pop3, "pop3"),
        (.smtp, "smtp"),
        (.socks, "socks"),
        (.imap, "imap"),
        (.ldap, "ldap"),
        (.afp, "afp"),
        (.telnet, "telnet"),
        (.ssh, "ssh"),
        (.ftps, "ftps"),
        (.https, "https"),
        (.smb, "smb"),
        (.rtsp, "rtsp"),
        (.daap, "daap"),
        (.eppc, "eppc"),
        (.ipp, "ipp"),
        (.nntps, "nntps"),
        (.ldaps, "ldaps"),
        (.telnetS, "telnets"),
        (.imaps, "imaps"),
        (.ircs, "ircs"),
        (.pop3S, "pop3s"),
    ]

    /// Makes a protocol from a URL scheme, in any case; nil for a scheme that is not in the table.
    ///
    /// - Parameter scheme: For example `https`.
    public init?(scheme: String) {
        let scheme = scheme.lowercased()
        guard let found = Self.schemes.first(where: { $0.scheme == scheme }) else { return nil }
        self = found.protocol
    }

    /// The URL scheme of the protocol; nil for one that has none, such as a proxy.
    public var scheme: String? {
        Self.schemes.first { $0.protocol == self }?.scheme
    }

    /// The URL scheme where there is one, else the code.
    public var description: String { scheme ?? rawValue }
}
