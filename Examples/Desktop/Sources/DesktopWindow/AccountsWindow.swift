// SPDX-License-Identifier: MIT

import CGTK
package import DesktopModel
package import SwiftKeychain

/// A window with a form to sign in, and the accounts that are kept.
///
/// It shows what its model says, and tells it what the person does. No verb of the keychain is called here: the main loop
/// must not wait for a store.
@MainActor package final class AccountsWindow {
    package let window: Widget = gtk_window_new()
    package let server: Widget = gtk_entry_new()
    package let account: Widget = gtk_entry_new()
    package let token: Widget = gtk_password_entry_new()
    package let signInButton: Widget = gtk_button_new_with_label("Sign in")
    /// What is shown; ``show(_:)`` brings the next.
    package private(set) var state = AccountsState()
    /// Is called when the window shows something new.
    package var onUpdate: () -> Void = {}

    private let complaint: Widget = gtk_label_new(nil)
    private let list: Widget = gtk_list_box_new()
    private var rows: [(account: Account, button: Widget)] = []
    private let model: AccountsModel
    /// Whether the widgets are gone; what is under way when the window is closed still comes back.
    private var isClosed = false

    /// Makes the window and shows it; it follows the keychain until it is closed.
    ///
    /// - Parameter keychain: Where the tokens are.
    package init(keychain: Keychain) {
        let view = Weak()
        model = AccountsModel(keychain: keychain) { state in MainLoop.run { view.window?.show(state) } }
        view.window = self
        layOut()
        signInButton.on("clicked") { self.signIn() }
        for entry in [server, account, token] { entry.on("activate") { self.signIn() } }
        let following = Task.detached { [model] in await model.follow() }
        window.on("destroy") {
            following.cancel()
            self.isClosed = true
        }
        gtk_window_present(window.cast())
    }

    /// What a model holds of its window, which holds the model.
    @MainActor private final class Weak {
        weak var window: AccountsWindow?
    }

    // MARK: What the person does

    private func signIn() {
        let account = Account(server: server.text, name: account.text)
        let token = SecureBytes(Array(token.text.utf8))
        Task.detached { [model] in
            let isKept = await model.signIn(account, token: token)
            // What could not be kept stays in the form, to be tried again.
            if isKept { MainLoop.run { self.emptyForm() } }
        }
    }

    private func emptyForm() {
        guard !isClosed else { return }
        for entry in [server, account, token] { entry.text = "" }
    }

    // MARK: What the window shows

    private func show(_ new: AccountsState) {
        guard !isClosed else { return }
        gtk_label_set_text(complaint.opaque, new.complaint ?? "")
        gtk_widget_set_visible(complaint, new.complaint == nil ? 0 : 1)
        gtk_widget_set_sensitive(signInButton, new.isSigningIn ? 0 : 1)
        if new.accounts != state.accounts {
            while let row = gtk_widget_get_first_child(list) { gtk_list_box_remove(list.opaque, row) }
            rows = new.accounts.map { ($0, addRow($0)) }
        }
        state = new
        onUpdate()
    }

    private func addRow(_ account: Account) -> Widget {
        let row: Widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)
        let name: Widget = gtk_label_new("\(account.name) at \(account.server)")
        gtk_widget_set_hexpand(name, 1)
        gtk_label_set_xalign(name.opaque, 0)
        let button: Widget = gtk_button_new_with_label("Remove")
        button.on("clicked") { [model] in Task.detached { await model.remove(account) } }
        gtk_box_append(row.cast(), name)
        gtk_box_append(row.cast(), button)
        setMargins(row, 6)
        gtk_list_box_append(list.opaque, row)
        return button
    }

    /// The text of each row, as it is shown.
    package var rowTexts: [String] {
        rows.compactMap { row in
            gtk_widget_get_prev_sibling(row.button).map { String(cString: gtk_label_get_text($0.opaque)) }
        }
    }

    /// The complaint, as it is shown; nil if there is none.
    package var shownComplaint: String? {
        gtk_widget_get_visible(complaint) == 0 ? nil : String(cString: gtk_label_get_text(complaint.opaque))
    }

    /// The button that removes an account; nil if the account is not shown.
    package func removeButton(of account: Account) -> Widget? { rows.first { $0.account == account }?.button }

    private func layOut() {
        gtk_window_set_title(window.cast(), "Accounts")
        gtk_window_set_default_size(window.cast(), 420, 360)
        let box: Widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        setMargins(box, 12)
        let form: Widget = gtk_grid_new()
        gtk_grid_set_row_spacing(form.cast(), 6)
        gtk_grid_set_column_spacing(form.cast(), 12)
        for (row, (title, entry)) in [("Server", server), ("Account", account), ("Token", token)].enumerated() {
            let label: Widget = gtk_label_new(title)
            gtk_label_set_xalign(label.opaque, 1)
            gtk_widget_set_hexpand(entry, 1)
            gtk_grid_attach(form.cast(), label, 0, Int32(row), 1, 1)
            gtk_grid_attach(form.cast(), entry, 1, Int32(row), 1, 1)
        }
        gtk_label_set_wrap(complaint.opaque, 1)
        gtk_label_set_xalign(complaint.opaque, 0)
        gtk_widget_add_css_class(complaint, "error")
        gtk_widget_set_visible(complaint, 0)
        gtk_list_box_set_selection_mode(list.opaque, GTK_SELECTION_NONE)
        let scrolled: Widget = gtk_scrolled_window_new()
        gtk_scrolled_window_set_child(scrolled.opaque, list)
        gtk_scrolled_window_set_has_frame(scrolled.opaque, 1)
        gtk_widget_set_vexpand(scrolled, 1)
        for part in [form, signInButton, complaint, scrolled] { gtk_box_append(box.cast(), part) }
        gtk_window_set_child(window.cast(), box)
    }

    private func setMargins(_ widget: Widget, _ margin: Int32) {
        gtk_widget_set_margin_top(widget, margin)
        gtk_widget_set_margin_bottom(widget, margin)
        gtk_widget_set_margin_start(widget, margin)
        gtk_widget_set_margin_end(widget, margin)
    }
}
