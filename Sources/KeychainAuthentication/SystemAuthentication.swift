// SPDX-License-Identifier: MIT

public import KeychainAPI
import KeychainSystem

/// Asks the person through polkit, which on a desktop shows a window for the login password.
///
/// ```swift
/// let authentication = SystemAuthentication(reuse: .seconds(300))
/// let keychain = Keychain.default.with { $0.authenticationContext = authentication }
/// ```
///
/// polkit asks for what is called an action, and knows those whose policy file the administrator has installed. The one
/// that is taken here is in `Sources/KeychainAuthentication/Resources`:
///
/// ```sh
/// install -m 644 org.swift-keychain.confirm.policy /usr/share/polkit-1/actions/
/// ```
///
/// The person sees the message of that file, and not the keychain's own reason: polkit lets nobody but root and the owner of an action give a text of the
/// moment, so an application that wants a reason of its own installs a policy file of its own and gives the identifier of
/// its action. Such an action says `auth_self`; `auth_self_keep` would let polkit remember what ``reuse`` says is
/// forgotten.
///
/// How the person proves who they are is configured on the machine (PAM): the login password, or what the administrator has
/// put in its place. So ``authenticate(_:reason:_:)`` answers for `userPresence` and `devicePasscode`; whether it was biometry
/// cannot be known, and a policy that insists on one is refused. The administrator's rules may also confirm without a
/// question. For a process of root polkit always does, which is no confirmation, and is refused as well.
///
/// > Important: This is a confirmation, not cryptography. The client of polkit that is asked is `/usr/bin/pkcheck`, with an
/// > empty environment, so that neither PATH nor LD_PRELOAD nor DBUS_SYSTEM_BUS_ADDRESS of this process can have another
/// > program answer. But who decides over the environment of this process, or may debug it, can make this library itself
/// > believe anything, and who may read the store needs none of it.
public final class SystemAuthentication: AuthenticationContext {
    /// For how long what was confirmed once need not be confirmed again.
    public let reuse: AuthenticationReuse
    private let action: String
    private let client: PolkitClient

    /// Makes one; polkit is first looked for when it is asked.
    ///
    /// - Parameters:
    ///   - reuse: For how long a confirmation holds; by default each call asks anew.
    ///   - actionIdentifier: The action of polkit that the person is to authorize, and whose message they see.
    public convenience init(reuse: Duration = .zero, actionIdentifier: String = "org.swift-keychain.confirm") {
        self.init(reuse: reuse, actionIdentifier: actionIdentifier, client: .system)
    }

    package init(
        reuse: Duration = .zero,
        actionIdentifier: String = "org.swift-keychain.confirm",
        client: PolkitClient
    ) {
        self.reuse = AuthenticationReuse(for: reuse)
        action = actionIdentifier
        self.client = client
    }

    /// Lets polkit ask the person, and returns when they have confirmed.
    ///
    /// - Parameters:
    ///   - options: What must be confirmed.
    ///   - reason: Is not shown: polkit takes no text from a program without privileges.
    ///   - call: Its deadline and its cancellation withdraw the question.
    /// - Throws: `userCanceled` if the person dismissed the question; `authenticationFailed` if they did not prove who they
    ///   are, or the administrator's rules forbid it; `interactionNotAllowed` if nothing runs that could ask them;
    ///   `unavailable` without polkit, the system bus or the action; `unsupported` for biometry, and for root; `timedOut`
    ///   and `cancelled`.
    public func authenticate(_ options: AccessPolicy.Options, reason: String, _ call: CallContext) throws(KeychainError)
    {
        guard Self.canConfirm(options) else {
            throw KeychainError(
                .unsupported,
                "The item's policy asks for what polkit cannot vouch for: it does not tell whether a password or biometry "
                    + "was given. Use an AuthenticationContext of your own, or store the item with the option "
                    + "userPresence or devicePasscode."
            )
        }
        guard client.user != 0 else {
            throw KeychainError(
                .unsupported,
                "polkit lets root do everything without a question, so that it confirms nothing here. Run the program as "
                    + "the person who is to be asked, or use an AuthenticationContext of your own."
            )
        }
        let answer = try client.ask(action, call)
        if answer.status != 0 { throw refusal(answer) }
    }

    /// Whether a password that the person has given is what a policy asks for.
    private static func canConfirm(_ options: AccessPolicy.Options) -> Bool {
        let operators: AccessPolicy.Options = [.or, .and]
        let provable: AccessPolicy.Options = [.userPresence, .devicePasscode]
        let known = operators.union(provable).union([.biometryAny, .biometryCurrentSet])
        // What a later version has stored is not known to be met by this one.
        guard options.isSubset(of: known) else { return false }
        let wanted = options.subtracting(operators)
        return options.intersection(operators) == .or
            ? !wanted.isDisjoint(with: provable) : !wanted.isEmpty && wanted.isSubset(of: provable)
    }

    /// The error for an end of pkcheck(1).
    private func refusal(_ answer: PolkitClient.Answer) -> KeychainError {
        switch answer.status {
        case 1:
            return KeychainError(
                .authenticationFailed,
                "polkit did not authorize the person: the password was wrong, or a rule of the administrator forbids it. "
                    + "Try again, or ask the administrator for a rule on ‘\(action)’."
            )
        case 2:
            return KeychainError(
                .interactionNotAllowed,
                "Nothing runs in this session that polkit could ask the person with. Start an agent: desktops have one, "
                    + "and on a terminal it is pkttyagent --process, with the number of this process."
            )
        case 3:
            return KeychainError(.userCanceled, "The person dismissed the question. Try again to be asked once more.")
        case 126, 127:
            let underlying = KeychainError.Underlying(
                domain: "pkcheck",
                code: answer.status.map { Int($0) } ?? 0,
                message: answer.text.trimmed
            )
            if answer.text.contains("is not registered") {
                return KeychainError(
                    .unavailable,
                    "polkit does not know the action ‘\(action)’. Install the policy file that comes with the library or "
                        + "the application: install -m 644 \(action).policy /usr/share/polkit-1/actions/",
                    underlying: underlying
                )
            }
            return KeychainError(
                .unavailable,
                "polkit could not be asked. Install it (apt-get install polkitd), and look whether it and the system bus "
                    + "run: systemctl status polkit dbus",
                underlying: underlying
            )
        default:
            return KeychainError(
                .unavailable,
                "The client of polkit ended before it had an answer. Try again; a process that ignores SIGCHLD cannot use "
                    + "it."
            )
        }
    }
}
