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

        private enum Outcome: Sendable {
            case completed(isDismissed: Bool, Variant)
            case lost
            case cancelled
        }

        /// What a prompt is about.
        enum Subject: Sendable {
            /// Something locked, as it is called at the beginning of a sentence.
            case unlock(String)
            /// A change of an unlocked collection, as in "The item could not be removed".
            ///
            /// KeePassXC returns a prompt for each, which asks nothing unless the person has told it to.
            case change(String)
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
        ///   - subject: What the prompt is about.
        /// - Returns: What the service calls the result.
        /// - Throws: `interactionNotAllowed` if no prompt is allowed, or probably none could be shown;
        ///   `userCanceled` if it was dismissed; `timedOut` and `cancelled`.
        func run(_ path: String, _ subject: Subject) throws(KeychainError) -> Variant {
            if case .unlock(let what) = subject, !call.allowsUnlockPrompt {
                // Never shown, so that it can be dismissed; whether that succeeds does not matter.
                let dismissal = session.request(path, ServiceName.prompt, "Dismiss", [], reply: "()", "")
                _ = try session.connection.perform([dismissal], call, limit: .seconds(1))
                throw KeychainError(
                    .interactionNotAllowed,
                    "\(what) is locked, and nothing may be asked. Unlock the keyring, for example by logging in to the "
                        + "desktop, or allow prompts."
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
                    [.string("")],
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
            case .completed(isDismissed: true, _)?: throw dismissed(subject, after: ContinuousClock.now - start)
            case .lost?:
                throw KeychainError(
                    .unavailable,
                    "The Secret Service went away while it was asking. Start it and try again."
                )
            case .cancelled?:
                try call.check()
                throw KeychainError(.cancelled, "The call was cancelled while the keyring was asking.")
            case nil: throw unanswered(subject)
            }
        }

        private var patience: Duration {
            guard call.interaction == .never else { return call.remaining ?? Self.patience }
            return min(Self.silentPatience, call.remaining ?? Self.silentPatience)
        }

        private func unanswered(_ subject: Subject) -> KeychainError {
            switch subject {
            case .unlock(let what):
                KeychainError(.timedOut, "\(what) is locked, and no one answered the prompt in time. Try again.")
            case .change(let action) where call.interaction == .never:
                KeychainError(
                    .interactionNotAllowed,
                    "\(action): the keyring wants to ask first. Answer it, allow prompts, or switch its confirmations "
                        + "off."
                )
            case .change(let action):
                KeychainError(.timedOut, "\(action): no one answered the keyring's question in time. Try again.")
            }
        }

        private func dismissed(_ subject: Subject, after time: Duration) -> KeychainError {
            let what: String
            switch subject {
            case .unlock(let locked): what = locked
            case .change(let action):
                return KeychainError(
                    .userCanceled,
                    "\(action): the keyring refused it, or its question was dismissed. Look at the keyring and try "
                        + "again."
                )
            }
            // The service does not tell "nobody was asked" from "cancelled". Nobody cancels within a second without a
            // screen.
            if !hasDisplay && time < .seconds(1) {
                return KeychainError(
                    .interactionNotAllowed,
                    "\(what) is locked, and no prompt could be shown, since there is no display. Unlock the "
                        + "keyring, for example "
                        + "with gnome-keyring-daemon --unlock, and try again."
                )
            }
            return KeychainError(
                .userCanceled,
                "\(what) is locked, and the prompt was dismissed. Try again and unlock it."
            )
        }
    }
#endif
