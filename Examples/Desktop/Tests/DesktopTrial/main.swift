// SPDX-License-Identifier: MIT

import CGTK
import DesktopWindow
import Foundation
import SwiftKeychain

// Uses windows as a person does, and says at the first difference what it is. It needs a display, and a bus with a Secret
// Service whose default collection is unlocked: the script ‘try’ gives it both. The argument is where a picture is saved.
guard CommandLine.arguments.count == 2, gtk_init_check() != 0 else {
    FileHandle.standardError.write(Data("usage: DesktopTrial PICTURE, on a display\n".utf8))
    exit(2)
}
let picture = CommandLine.arguments[1]
Task.detached {
    do {
        try await SlowStoreTrial().run()
        try await KeyringTrial(picture: picture).run()
        exit(0)
    } catch {
        FileHandle.standardError.write(Data("DesktopTrial: \(error)\n".utf8))
        exit(1)
    }
}
g_main_loop_run(g_main_loop_new(nil, 0))
