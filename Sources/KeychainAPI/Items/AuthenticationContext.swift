// SPDX-License-Identifier: MIT

/// Asks the person for the confirmation that an item's ``AccessPolicy`` demands.
///
/// Linux has no single way to ask: an application provides one that suits it, or takes the one that asks polkit
/// (`SystemAuthentication` of the product KeychainAuthentication). Without one, reading such an item throws
/// `interactionNotAllowed`.
///
/// The confirmation is asked for by this library. It protects from who sits at the machine, not from other programs
/// of the same user; for that, see ``AccessPolicy/Options/applicationPassword``.
public protocol AuthenticationContext: AnyObject, Sendable {
    /// For how long what was confirmed once need not be confirmed again; by default each call asks anew.
    var reuse: AuthenticationReuse { get }

    /// Asks for a confirmation and returns when it was given.
    ///
    /// - Parameters:
    ///   - options: What must be confirmed.
    ///   - reason: What the person is told that it is for (``KeychainConfiguration/authenticationReason``); `""` for
    ///     nothing.
    ///   - call: Deadline and cancellation of the call that needs it.
    /// - Throws: `userCanceled` if the person refused, `authenticationFailed` if the confirmation was wrong,
    ///   `unavailable` if what would ask is not there.
    func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError)
}

extension AuthenticationContext {
    /// None: each call asks anew.
    public var reuse: AuthenticationReuse { .none }
}
