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
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let scheme = parts[0].utf8
        let isLetter = { (byte: UInt8) in byte >= 0x61 && byte <= 0x7A }
        let isRest = { (byte: UInt8) in isLetter(byte) || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte) }
        guard parts.count == 2, let first = scheme.first, isLetter(first), scheme.allSatisfy(isRest) else {
            throw KeychainError(
                .invalidParameter,
                "‘\(text)’ is not a store URL. Write DRIVER:PLACE, for example file:/srv/app.keychain or secret-service:."
            )
        }
        guard !parts[1].utf8.contains(0) else {
            throw KeychainError(.invalidParameter, "A store URL cannot contain NUL.")
        }
        let path = parts[1].hasPrefix("///") ? String(parts[1].dropFirst(2)) : parts[1]
        self.init(driver: DriverIdentifier(rawValue: parts[0]), path: path)
    }

    /// The URL as text.
    public var description: String { "\(driver):\(path)" }
}
