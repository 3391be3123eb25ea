// SPDX-License-Identifier: MIT

import CGTK
import DesktopWindow
import SwiftKeychain

/// Opens a window for each time that the program is started.
let activate: @convention(c) (UnsafeMutablePointer<GtkApplication>?, gpointer?) -> Void = { application, _ in
    MainActor.assumeIsolated {
        let accounts = AccountsWindow(keychain: .default)
        gtk_application_add_window(application, accounts.window.cast())
    }
}

let application = gtk_application_new("com.example.desktop", G_APPLICATION_DEFAULT_FLAGS)
g_signal_connect_data(
    application,
    "activate",
    unsafeBitCast(activate, to: GCallback.self),
    nil,
    nil,
    GConnectFlags(rawValue: 0)
)
let status = g_application_run(
    UnsafeMutableRawPointer(application!).assumingMemoryBound(to: GApplication.self),
    CommandLine.argc,
    CommandLine.unsafeArgv
)
g_object_unref(application)
exit(status)
