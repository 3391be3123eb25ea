// SPDX-License-Identifier: MIT

import Dispatch
package import Glibc
import KeychainAPI
import KeychainSystem

/// How polkit is asked: by its own client, pkcheck(1).
package struct PolkitClient: Sendable {
    /// The one of the system, never one that is found in PATH.
    package static let system = PolkitClient(path: "/usr/bin/pkcheck", environment: [:], user: getuid())

    private let path: String
    private let environment: [String: String]
    /// Who asks.
    let user: uid_t

    /// Names another client.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - environment: All of its environment.
    ///   - user: The user whose process this is.
    package init(path: String, environment: [String: String], user: uid_t) {
        self.path = path
        self.environment = environment
        self.user = user
    }

    /// How the client ended, and the beginning of what it printed.
    struct Answer {
        /// Nil if it is not known.
        let status: Int32?
        let text: String
    }

    /// Lets polkit ask the person, and waits for the answer.
    ///
    /// - Parameters:
    ///   - action: The identifier of polkit's action.
    ///   - call: Its deadline and its cancellation end the client, and with it polkit's question.
    /// - Throws: `unavailable` if there is no client; `timedOut` and `cancelled`.
    func ask(_ action: String, _ call: CallContext) throws(KeychainError) -> Answer {
        let subject = try PolkitSubject.current(of: user)
        guard access(path, X_OK) == 0 else {
            throw KeychainError(
                .unavailable,
                "There is no polkit to ask for the person's confirmation: ‘\(path)’ is missing. Install it: apt-get "
                    + "install polkitd"
            )
        }
        try call.check()
        let child = try ChildProcess(
            path,
            ["--action-id", action, "--process", subject.text, "--allow-user-interaction"],
            environment: environment,
            errors: .output
        )
        let end: @Sendable () -> Void = {
            child.kill()
            // What the child has started may keep its output open.
            _ = shutdown(child.output.number, Int32(SHUT_RD))
        }
        let deadline = DispatchWorkItem(block: end)
        defer { deadline.cancel() }
        if let remaining = call.remaining {
            DispatchQueue.global().asyncAfter(deadline: .now() + remaining / .seconds(1), execute: deadline)
        }
        let answer = try call.withCancellationHandler(end) {
            let text = Self.text(child.output)
            return Answer(status: child.wait(), text: text)
        }
        try call.check()
        return answer
    }

    /// Everything is read, so that the client is never held up, and the beginning kept.
    private static func text(_ output: FileDescriptor) -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = retryingInterruptions { read(output.number, &buffer, buffer.count) }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            if text.count < 4096 { text += buffer[..<count] }
        }
    }
}
