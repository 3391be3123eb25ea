// SPDX-License-Identifier: MIT

import CGTK
import DesktopWindow

/// What a widget looks like.
@MainActor struct Picture {
    private let widget: Widget

    /// Makes the picture of a widget that is shown.
    init(of widget: Widget) { self.widget = widget }

    /// Draws it with the renderer of its window into a PNG file; false if it was not drawn or could not be saved.
    func save(_ path: String) -> Bool {
        gtk_widget_queue_draw(widget)
        let limit = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < limit {
            // There is something to save as soon as the next frame has been drawn.
            g_main_context_iteration(nil, 1)
            guard let node = drawing() else { continue }
            defer { gsk_render_node_unref(node) }
            let texture = gsk_renderer_render_texture(gtk_native_get_renderer(widget.opaque), node, nil)
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return gdk_texture_save_to_png(texture, path) != 0
        }
        return false
    }

    /// What was drawn of the widget; nil if it is to be drawn anew.
    private func drawing() -> OpaquePointer? {
        let paintable = gtk_widget_paintable_new(widget)
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        let snapshot = gtk_snapshot_new()
        gdk_paintable_snapshot(
            paintable,
            snapshot,
            Double(gtk_widget_get_width(widget)),
            Double(gtk_widget_get_height(widget))
        )
        return gtk_snapshot_free_to_node(snapshot)
    }
}
