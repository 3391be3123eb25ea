// SPDX-License-Identifier: MIT

package import CGTK

/// A widget as GTK's functions take it.
package typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// The widget as an object of a class that C sees the structure of, as GTK's casting macros do it.
    package func cast<Class>(to class: Class.Type = Class.self) -> UnsafeMutablePointer<Class> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Class.self)
    }

    /// The widget as an object of any other class.
    package var opaque: OpaquePointer { OpaquePointer(self) }

    /// The text of an entry.
    package var text: String {
        get { String(cString: gtk_editable_get_text(opaque)) }
        nonmutating set { gtk_editable_set_text(opaque, newValue) }
    }

    /// Runs a closure whenever a signal is emitted; it is released with the widget.
    ///
    /// - Parameters:
    ///   - signal: A signal without arguments and without a result.
    ///   - action: Is called on the main loop.
    @MainActor func on(_ signal: String, _ action: @escaping @MainActor () -> Void) {
        let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            let handler = Unmanaged<Handler>.fromOpaque(data!).takeUnretainedValue()
            MainActor.assumeIsolated { handler.action() }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(self),
            signal,
            unsafeBitCast(handler, to: GCallback.self),
            Unmanaged.passRetained(Handler(action)).toOpaque(),
            { data, _ in Unmanaged<Handler>.fromOpaque(data!).release() },
            GConnectFlags(rawValue: 0)
        )
    }
}

@MainActor private final class Handler {
    let action: @MainActor () -> Void

    init(_ action: @escaping @MainActor () -> Void) { self.action = action }
}
