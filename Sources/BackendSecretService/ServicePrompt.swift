// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI

    /// A question that the service wants to ask the person before it goes on.
    struct ServicePrompt {
        /// How long a person may take when the call has no deadline.
        static let patience = Duration.seconds(120)

        let session: ServiceSession
        let call: CallContext
        /// Whether there is a display on which a prompt could appear, as far as the environment tells.
        let hasDisplay: Bool

        /// What a prompt is about, for messages.
        struct Matter {
            /// What is the case, as in "The collection ‘Login’ is locked".
            let state: String
            /// What can be done about it without a prompt, as a sentence.
            let remedy: String
            /// Whether the prompt may end by itself: KeePassXC returns one for each change, which asks nothing unless the
            /// person has told it to.
            var mayAskNothing = false

            static func locked(_ what: String) -> Matter {
                Matter(
                    state: "\(what) is locked",
                    remedy: "Unlock the keyring, for example by logging in to the desktop or with "
                        + "gnome-keyring-daemon --replace --unlock"
                )
            }

            /// A change of an unlocked collection, as in "The item could not be removed".
            static func change(_ action: String) -> Matter {
                Matter(
                    state: "\(action): the keyring wants to ask first",
                    remedy: "Switch its confirmations off",
                    mayAskNothing: true
                )
            }
        }

        private enum Outcome: Sendable {
            case completed(isDismissed: Bool, Variant)
            case lost
            case cancelled
        }

        /// How long a service may take with a change that nobody may be asked about.
        private static let silentPatience = Duration.seconds(5)

        /// Asks, and waits for the answer.
        ///
        /// A prompt that was shown is never dismissed from here: GNOME Keyring 42 to 50 aborts when that is done to
        /// the prompt of an unlock. When the call ends first, the prompt stays, and may still be answered.
        ///
        /// The prompt of a change is run for a call that allows no prompt as well, but is not waited for as a person
        /// is: it ends by itself where nothing has to be asked.
        ///
        /// - Parameters:
        ///   - path: The prompt's object path, as the service returned it.
        ///   - matter: What the prompt is about.
        /// - Returns: What the service calls the result.
        /// - Throws: `interactionNotAllowed` if no prompt is allowed, or probably none could be shown;
        ///   `userCanceled` if it was dismissed; `timedOut` and `cancelled`.
        func run(_ path: String, _ matter: Matter) throws(KeychainError) -> Variant {
            guard call.allowsUnlockPrompt || matter.mayAskNothing else {
                // Whether dismissing it succeeds does not matter. GNOME Keyring aborts when that is done while a prompt is
                // open, be it another program's: there it is left, and gone with the connection.
                if !session.isGNOMEKeyring {
                    let dismissal = session.request(path, ServiceName.prompt, "Dismiss", [], reply: "()", "")
                    _ = try session.connection.perform([dismissal], call, limit: .seconds(1))
                }
                throw KeychainError(
                    .interactionNotAllowed,
                    "\(matter.state), and nothing may be asked. \(matter.remedy), or allow prompts."
                )
            }
            let outcome = OneShot<Outcome>()
            let subscription = session.connection.subscribe(
                sender: session.owner,
                interface: ServiceName.prompt,
                signal: "Completed",
                path: path
            ) { arguments in
                guard arguments.type == "(bv)" else { return }
                outcome.fulfil(.completed(isDismissed: arguments[0].flag, arguments[1].unboxed))
            }
            defer { subscription.cancel() }
            let start = ContinuousClock.now
            _ = try session.perform(
                session.request(
                    path,
                    ServiceName.prompt,
                    "Prompt",
                    [.string(call.interaction.window)],
                    reply: "()",
                    "The prompt could not be shown"
                ),
                call
            )
            let result = try session.withLossHandler {
                outcome.fulfil(.lost)
            } _: { () throws(KeychainError) in
                try call.withCancellationHandler {
                    outcome.fulfil(.cancelled)
                } _: { () throws(KeychainError) in
                    outcome.wait(patience)
                }
            }
            switch result {
            case .completed(isDismissed: false, let value)?: return value
            case .completed(isDismissed: true, _)?: throw try dismissed(matter, after: ContinuousClock.now - start)
            case .lost?:
                throw KeychainError(
                    .unavailable,
                    "The Secret Service went away while it was asking. Start it and try again."
                )
            case .cancelled?:
                try call.check()
                throw KeychainError(.cancelled, "The call was cancelled while the keyring was asking.")
            case nil where !call.allowsUnlockPrompt:
                throw KeychainError(
                    .interactionNotAllowed,
                    "\(matter.state), and nothing may be asked. \(matter.remedy), or allow prompts."
                )
            case nil:
                throw KeychainError(
                    .timedOut,
                    "\(matter.state), and no one answered the prompt in time. Try again, or allow more time."
                )
            }
        }

        private var patience: Duration {
            let limit = call.allowsUnlockPrompt ? Self.patience : Self.silentPatience
            guard let remaining = call.remaining else { return limit }
            return call.allowsUnlockPrompt ? remaining : min(limit, remaining)
        }

        private func dismissed(_ matter: Matter, after time: Duration) throws(KeychainError) -> KeychainError {
            let isAnswer = matter.mayAskNothing ? true : try wasShown(after: time)
            if isAnswer {
                return KeychainError(
                    .userCanceled,
                    "\(matter.state), and the prompt was dismissed. Try again and answer it."
                )
            }
            let reason = hasDisplay ? "no program shows prompts here (package gcr)" : "there is no display"
            return KeychainError(
                .interactionNotAllowed,
                "\(matter.state), and no prompt could be shown, since \(reason). \(matter.remedy), and try again."
            )
        }

        /// Whether anyone can have seen a prompt that was dismissed, which the service does not tell.
        private func wasShown(after time: Duration) throws(KeychainError) -> Bool {
            // Nobody answers within a second what nobody sees.
            if time >= .seconds(1) { return true }
            // GNOME Keyring leaves it to a program of its own, which stays for a while; others show prompts themselves.
            guard session.isGNOMEKeyring else { return hasDisplay }
            let request = BusCall.owner(
                of: "org.gnome.keyring.SystemPrompter",
                action: "The prompter could not be looked for"
            )
            return try session.connection.perform([request], call, limit: ServiceSession.answerLimit)
                .allSatisfy { (try? $0.get()) != nil }
        }
    }
#endif
