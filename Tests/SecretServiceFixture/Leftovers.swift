// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization

/// What has to be cleared away when this process ends, since it may keep a keyring in a global that is never released.
enum Leftovers {
    private struct State {
        var processes: Set<pid_t> = []
        var folders: Set<String> = []
    }

    private static let state: Mutex<State> = {
        atexit { Leftovers.clearAway() }
        return Mutex(State())
    }()

    static func note(_ process: pid_t) { state.withLock { _ = $0.processes.insert(process) } }
    static func note(_ folder: URL) { state.withLock { _ = $0.folders.insert(folder.path) } }
    static func forget(_ process: pid_t) { state.withLock { _ = $0.processes.remove(process) } }
    static func forget(_ folder: URL) { state.withLock { _ = $0.folders.remove(folder.path) } }

    private static func clearAway() {
        let left = state.withLock { $0 }
        for process in left.processes {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        for folder in left.folders { try? FileManager.default.removeItem(atPath: folder) }
    }
}
