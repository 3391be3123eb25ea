// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import Synchronization

/// What the process does about signals: it ends cleanly, and never leaves the terminal without its echo.
///
/// The signals are blocked in every thread, and one thread waits for them: so what they lead to is ordinary code, not a
/// handler in the middle of something else. SIGPIPE keeps its default, which ends the process without a word.
final class ProcessSignals: Sendable {
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2]
    /// How long a call may take to notice that it was cancelled.
    private static let grace = Duration.seconds(2)

    private static let blocked = Mutex<(original: sigset_t, now: sigset_t)?>(nil)

    private let interrupt: Interrupt
    private let cancel = Mutex<(@Sendable () -> Void)?>(nil)

    init(interrupt: Interrupt) {
        self.interrupt = interrupt
    }

    /// Blocks the signals and starts the thread that waits for them.
    ///
    /// To be called before there is another thread.
    func start() {
        var signals = Self.set(Self.ending + [SIGTSTP])
        // A program that was started with a signal ignored, as by nohup, keeps ignoring it.
        for number in Self.ending + [SIGTSTP] where Self.isIgnored(number) { sigdelset(&signals, number) }
        var original = sigset_t()
        pthread_sigmask(SIG_BLOCK, &signals, &original)
        let blocked = signals
        Self.blocked.withLock { [original] in $0 = (original, blocked) }
        // Without the thread no signal could end the process: then they keep what they do by default.
        guard !DetachedThread.start({ self.waitForSignals(blocked) }) else { return }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// The signals that were blocked when the process began, which a program that it starts is to find.
    static var originalMask: sigset_t { blocked.withLock { $0?.original } ?? set([]) }

    /// Gives this thread back the signals that were blocked, for a program that takes the place of this one.
    static func unblock() {
        var mask = originalMask
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// What is called when a signal asks the process to end; at once if one has already.
    func onEnd(_ action: @escaping @Sendable () -> Void) {
        cancel.withLock { $0 = action }
        if interrupt.firedSignal != nil { action() }
    }

    private func waitForSignals(_ signals: sigset_t) {
        var signals = signals
        while true {
            var information = siginfo_t()
            let number = sigwaitinfo(&signals, &information)
            guard number > 0 else { continue }
            if number == SIGTSTP {
                TerminalEcho.shared.pause(Self.stop)
            } else if information.si_code == Int32(SI_KERNEL), interrupt.isPassingOn {
                // The terminal has sent it to every process in front.
                continue
            } else if !interrupt.isPassedOn(number) {
                end(number)
            }
        }
    }

    private func end(_ number: Int32) {
        let isSecond = interrupt.firedSignal != nil
        TerminalEcho.shared.write("\n")
        TerminalEcho.shared.show()
        interrupt.fire(number)
        cancel.withLock { $0 }?()
        // The main thread ends the process as soon as the call has returned; who asks twice does not want to wait.
        let isWaiting =
            !isSecond
            && DetachedThread.start { [grace = Self.grace] in
                usleep(UInt32(grace.components.seconds) * 1_000_000)
                TerminalEcho.shared.show()
                _exit(128 + number)
            }
        if !isWaiting { _exit(128 + number) }
    }

    /// Stops the process as the terminal's stop key does, and returns when it goes on.
    private static func stop() {
        // By the default action: the system then leaves a process alone that no shell could continue.
        var only = set([SIGTSTP])
        raise(SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &only, nil)
        pthread_sigmask(SIG_BLOCK, &only, nil)
    }

    private static func set(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
