// SPDX-License-Identifier: MIT

/// Asks the person for the confirmation that an item's ``AccessPolicy`` demands.
///
/// The application provides one; Linux has no single way to ask. Without one, reading such an item throws
/// `interactionNotAllowed`.
public protocol AuthenticationContext: Sendable {
    /// Asks for a confirmation and returns when it was given.
    ///
    /// - Parameters:
    ///   - options: What must be confirmed.
    ///   - call: Deadline and cancellation of the call that needs it.
    /// - Throws: `userCanceled` if the person refused, `authenticationFailed` if the confirmation was wrong.
    func authenticate(_ options: AccessPolicy.Options, _ call: CallContext) throws(KeychainError)
}
