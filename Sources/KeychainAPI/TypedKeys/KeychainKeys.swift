// SPDX-License-Identifier: MIT

/// Where an application declares its keys, so that they are found by a dot.
///
/// ```swift
/// extension KeychainKeys {
///     static let accessToken = KeychainKey<String>("access token", service: "com.example.app")
///     static let session = KeychainKey<Session>("session", service: "com.example.app", codec: .json)
/// }
///
/// try keychain.set("8e9c0a7f", for: .accessToken)
/// let token = try keychain.get(.accessToken)
/// ```
///
/// Unchecked, since it has a subclass: it has no state, and ``KeychainKey`` has only constants.
public class KeychainKeys: @unchecked Sendable {
    init() {}
}
