// SPDX-License-Identifier: MIT

/// Names a store: a driver and what that driver needs to find it, for example `file:/srv/app.keychain`.
///
/// | URL | store |
/// |---|---|
/// | `file:PATH` | the encrypted file at a path |
/// | `file:///PATH`, `file://localhost/PATH` | the same as `file:/PATH` |
/// | `file:` | the encrypted file at the default path |
/// | `secret-service:` | the default collection of the desktop's Secret Service |
/// | `secret-service:COLLECTION` | another collection, by label or path |
/// | `memory:` | a store that lives as long as the process |
public struct StoreURL: Hashable, Sendable, CustomStringConvertible {
    /// The driver.
    public let driver: DriverIdentifier
    /// What follows the colon, taken as it is: nothing in it is percent-decoded.
    public let path: String

    /// Makes a URL from its parts.
    ///
    /// - Parameters:
    ///   - driver: The driver.
    ///   - path: What the driver needs to find the store.
    public init(driver: DriverIdentifier, path: String) {
        self.driver = driver
        self.path = path
    }

    /// Parses a URL.
    ///
    /// In `file:PATH` every character is one of the path, also `?`, `#` and `%`. After `file://`, where they would begin a
    /// query, a fragment and an escape (RFC 8089), they are refused rather than read in one of two ways; and so is a host
    /// other than this one.
    ///
    /// - Parameter text: `SCHEME:REST`; `file:///srv/x` is the same as `file:/srv/x`.
    /// - Throws: `invalidParameter` without a valid scheme (RFC 3986, 3.1), with NUL in the rest, or for what is not
    ///   understood after `file://`.
    public init(parsing text: String) throws(KeychainError) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(text[..<colon].utf8) else {
            // Without the text: what stands where a URL should is sometimes a passphrase.
            throw KeychainError(
                .invalidParameter,
                "This is not a store URL. Write DRIVER:PLACE, for example file:/srv/app.keychain or secret-service:."
            )
        }
        let rest = text[text.utf8.index(after: colon)...]
        guard !rest.utf8.contains(0) else {
            throw KeychainError(.invalidParameter, "A store URL cannot contain NUL.")
        }
        let driver = DriverIdentifier(rawValue: String(text[..<colon]))
        self.init(driver: driver, path: String(try Self.path(in: rest, driver)))
    }

    private static func path(in rest: Substring, _ driver: DriverIdentifier) throws(KeychainError) -> Substring {
        guard rest.utf8.starts(with: "//".utf8) else { return rest }
        let authority = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
        guard driver == fileDriver else { return authority.utf8.first == slash ? authority : rest }
        let host = authority[..<(authority.utf8.firstIndex(of: slash) ?? authority.endIndex)]
        let path = authority[host.endIndex...]
        guard host.isEmpty || host.lowercased() == "localhost", !path.isEmpty else {
            throw KeychainError(
                .invalidParameter,
                "A file URL cannot name a host other than localhost. Write file:PATH, for example file:/srv/app.keychain."
            )
        }
        guard !path.utf8.contains(where: { "?#%".utf8.contains($0) }) else {
            throw KeychainError(
                .invalidParameter,
                "A file URL has no query (?), fragment (#) or escape (%). Write file:PATH, in which each of them is a "
                    + "character of the path."
            )
        }
        return path
    }

    private static let fileDriver: DriverIdentifier = "file"
    private static let slash = UInt8(ascii: "/")

    private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = bytes.first, letters.contains(first) else { return false }
        return bytes.allSatisfy { letters.contains($0) || digits.contains($0) || "+-.".utf8.contains($0) }
    }

    /// Compares driver and place byte by byte.
    public static func == (left: StoreURL, right: StoreURL) -> Bool {
        left.driver == right.driver && left.path.isIdentical(to: right.path)
    }

    /// The URL as text.
    public var description: String {
        // Else the slashes at the start of the path would be read as what stands before a host.
        let needsAuthority = path.utf8.starts(with: (driver == Self.fileDriver ? "//" : "///").utf8)
        return needsAuthority ? "\(driver)://\(path)" : "\(driver):\(path)"
    }
}
