// SPDX-License-Identifier: MIT

/// Names a store: a driver and what that driver needs to find it, for example `file:/srv/app.keychain`.
///
/// | URL | store |
/// |---|---|
/// | `file:PATH` | the encrypted file at a path |
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
    /// - Parameter text: `SCHEME:REST`; `file:///srv/x` is the same as `file:/srv/x`.
    /// - Throws: `invalidParameter` without a valid scheme (RFC 3986, 3.1), or with NUL in the rest.
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
        let path = rest.utf8.starts(with: "///".utf8) ? rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...] : rest
        self.init(driver: DriverIdentifier(rawValue: String(text[..<colon])), path: String(path))
    }

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
    public var description: String { "\(driver):\(path)" }
}
