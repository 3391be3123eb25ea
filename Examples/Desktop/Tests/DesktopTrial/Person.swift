// SPDX-License-Identifier: MIT

import CGTK
import DesktopModel
import DesktopWindow
import SwiftKeychain

/// What a trial did not find as it should be.
struct Difference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Someone who uses a window, from a task.
struct Person: Sendable {
    private let window: AccountsWindow

    /// Opens a window.
    init(keychain: Keychain) async { window = await onMainLoop { AccountsWindow(keychain: keychain) } }

    /// Fills in the form and activates the button.
    func signIn(_ account: Account, token: String) async {
        await onMainLoop { [window] in
            window.server.text = account.server
            window.account.text = account.name
            window.token.text = token
            gtk_widget_activate(window.signInButton)
        }
    }

    /// Activates the button that removes an account.
    func remove(_ account: Account) async throws {
        guard await onMainLoop({ [window] in window.removeButton(of: account).map { gtk_widget_activate($0) } }) != nil
        else { throw Difference("There is no button to remove \(account.name).") }
    }

    /// Returns when the window shows these rows, and no complaint.
    func sees(_ rows: [String]) async throws {
        try await sees("the rows \(rows)") { $0.rowTexts == rows && $0.shownComplaint == nil }
    }

    /// Returns when the window shows what satisfies a condition.
    func sees(_ what: String, _ condition: @escaping @MainActor @Sendable (AccountsWindow) -> Bool) async throws {
        let limit = Task {
            try await Task.sleep(for: .seconds(60))
            let shown = await onMainLoop { [window] in
                "\(window.rowTexts), complaint: \(window.shownComplaint ?? "none")"
            }
            // The window does not show it any more: what waits for it waits for ever.
            fatalDifference("The window does not show \(what), but \(shown)")
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            MainLoop.run { [window] in
                window.onUpdate = {
                    guard condition(window) else { return }
                    window.onUpdate = {}
                    continuation.resume()
                }
                window.onUpdate()
            }
        }
        limit.cancel()
    }

    /// Whether the button to sign in can be used.
    var canSignIn: Bool {
        get async { await onMainLoop { [window] in gtk_widget_get_sensitive(window.signInButton) != 0 } }
    }

    /// What is in the form.
    var form: [String] {
        get async { await onMainLoop { [window] in [window.server.text, window.account.text, window.token.text] } }
    }

    /// Saves what the window shows, once it has been drawn.
    func savePicture(_ path: String) async throws {
        guard await onMainLoop({ [window] in Picture(of: window.window).save(path) }) else {
            throw Difference("The picture could not be saved as \(path).")
        }
    }

    /// Closes the window.
    func close() async { await onMainLoop { [window] in gtk_window_destroy(window.window.cast()) } }
}

/// Runs a closure on the main loop, and gives back what it returns.
func onMainLoop<Result: Sendable>(_ body: @escaping @MainActor @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in MainLoop.run { continuation.resume(returning: body()) } }
}
