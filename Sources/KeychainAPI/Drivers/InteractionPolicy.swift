// SPDX-License-Identifier: MIT

/// Whether a call may ask the person anything, and whether it may unlock a store.
public enum InteractionPolicy: Sendable, Hashable {
    /// The store may show a prompt, for example to be unlocked.
    case allowed
    /// The store may show a prompt, which belongs to a window of the application.
    ///
    /// The handle is in the form that the store's prompter understands; for the Secret Service an X11 window number in
    /// decimal (Secret Service API Draft, `Prompt`). A prompter that cannot make use of it shows its prompt all the same.
    case allowedOver(window: String)
    /// Nothing is asked; what would need a prompt throws `interactionNotAllowed`.
    ///
    /// A store that unlocks without a question, such as a keyring with an empty password, is unlocked.
    case never
    /// Nothing is asked, and a keyring that is locked stays so, even if it would unlock without a question.
    case neverUnlocking

    /// Whether anything may be asked.
    public var allowsPrompts: Bool {
        switch self {
        case .allowed, .allowedOver: true
        case .never, .neverUnlocking: false
        }
    }

    /// The handle of the window that a prompt belongs to, `""` for none.
    public var window: String {
        if case .allowedOver(let window) = self { window } else { "" }
    }

    /// The same without prompts.
    var silent: InteractionPolicy { self == .neverUnlocking ? .neverUnlocking : .never }
}
