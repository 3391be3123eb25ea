// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// The one error of the library: what went wrong, where, and what to do next.
///
/// Compare by ``code``, or catch one code by pattern:
///
/// ```swift
/// do {
///     try keychain.store(token, query: .credential(for: "OpenAI"))
/// } catch .duplicateItem {
///     // It is there already.
/// }
/// ```
///
/// Where the rest is thrown on, catch it explicitly: a `catch` that takes only some errors makes the compilers of Swift
/// 6.3.0 and 6.3.1 crash in some functions (swiftlang/swift#88220).
///
/// No error contains a secret, a passphrase or the value of an item.
public struct KeychainError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// What went wrong and what to do next, in one or two sentences.
    public let message: String
    /// The driver that reported it, nil if it did not get that far.
    public private(set) var driver: DriverIdentifier?
    /// Where the store is, as a store URL; nil if it did not get that far.
    public private(set) var location: String?
    /// The verb that failed.
    public private(set) var operation: KeychainOperation?
    /// What a library or the system said, if it was asked.
    public let underlying: Underlying?

    /// What a C library or the system reported.
    public struct Underlying: Sendable, Hashable, CustomStringConvertible {
        /// Where the code comes from: `errno`, a GLib error domain, a D-Bus error name, `libsodium`, `OpenSSL`.
        public let domain: String
        /// The code in that domain; 0 where there is none.
        public let code: Int
        /// The text that came with it.
        public let message: String

        /// Makes a description of a foreign error.
        ///
        /// - Parameters:
        ///   - domain: Where the code comes from.
        ///   - code: The code in that domain.
        ///   - message: The text that came with it; no secret.
        public init(domain: String, code: Int, message: String) {
            self.domain = domain
            self.code = code
            self.message = message
        }

        /// Domain, code and text in one line.
        public var description: String { "\(domain) \(code): \(message)" }
    }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - message: What went wrong and what to do next; no secret.
    ///   - underlying: What a library or the system said.
    public init(_ code: Code, _ message: String, underlying: Underlying? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The same error with the place where it happened, where that was not known yet.
    ///
    /// - Parameters:
    ///   - driver: The driver.
    ///   - location: Where the store is.
    ///   - operation: The verb.
    public func located(
        driver: DriverIdentifier,
        location: String,
        operation: KeychainOperation
    ) -> KeychainError {
        var error = self
        error.driver = error.driver ?? driver
        error.location = error.location ?? location
        error.operation = error.operation ?? operation
        return error
    }
}

extension KeychainError: Equatable {
    /// Two errors are equal if their codes are.
    public static func == (left: KeychainError, right: KeychainError) -> Bool { left.code == right.code }
}

extension KeychainError.Code {
    /// Lets `catch` take one code: `catch .timedOut` after typed throws, else `catch KeychainError.Code.timedOut`.
    ///
    /// The optional makes the compiler prefer the error itself where both exist, as in `catch .duplicateItem`.
    public static func ~= (code: KeychainError.Code, error: (any Error)?) -> Bool {
        (error as? KeychainError)?.code == code
    }
}

extension KeychainError {
    /// Lets a `catch` for any error take one code: `catch KeychainError.itemNotFound`.
    public static func ~= (code: KeychainError, error: any Error) -> Bool {
        (error as? KeychainError)?.code == code.code
    }
}

extension KeychainError: LocalizedError {
    /// What `localizedDescription` gives: the message.
    public var errorDescription: String? { message }
}

extension KeychainError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The code and the message in one line.
    public var description: String { "\(code): \(message)" }

    /// The description, and where it happened.
    public var debugDescription: String {
        var text = description
        if let operation { text += " [\(operation.rawValue)" + (location.map { " at \($0)" } ?? "") + "]" }
        if let underlying { text += " (\(underlying))" }
        return text
    }
}
