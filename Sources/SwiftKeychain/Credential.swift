// SPDX-License-Identifier: MIT

public import KeychainAPI

/// A property that stands for the one generic password of a service.
///
/// ```swift
/// @Credential("OpenAI") var token: String?
/// ```
///
/// See ``KeychainStorage``, which the projected value is.
@propertyWrapper
public struct Credential<Value: SecDataConvertible>: Sendable {
    /// The wrapper with the calls that can fail, as in `$token.store("8e9c0a7f")`.
    public let projectedValue: KeychainStorage<Value>

    /// Makes the property.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - account: The account.
    ///   - keychain: Where the item is, nil for `Keychain.default` at the time of each call.
    public init(_ service: String, account: String = "", keychain: Keychain? = nil) {
        projectedValue = KeychainStorage(KeychainKey(account, service: service), keychain: keychain)
    }

    /// The value; nil if there is none, or it could not be read.
    public var wrappedValue: Value? { projectedValue.wrappedValue }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the type; never the value.
    public var description: String { "Credential" }
    /// The same as the description.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
