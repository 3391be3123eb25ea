// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import Glibc
    import KeychainAPI
    import Synchronization

    /// The one thread of the process on which GLib delivers answers and signals.
    ///
    /// A thread and a main context of our own, because the process need not have a GLib main loop, and because
    /// libsecret's and GDBus' callbacks come on the context that was the thread's default when a call began.
    ///
    /// Unchecked because of the pointer: it is set once, and GLib's contexts are safe to use from any thread.
    final class BusThread: @unchecked Sendable {
        private let context: OpaquePointer

        private static let shared = Mutex<BusThread?>(nil)
        /// The process in which GLib was first used, 0 before.
        private static let owner = Atomic<pid_t>(0)

        /// The thread, started if need be.
        ///
        /// - Throws: `unavailable` if libsecret is missing, and in a process that was forked from one which had started it: GDBus' own worker thread
        ///   does not exist there, so that nothing would ever be answered.
        static func current() throws(KeychainError) -> BusThread {
            // Before the lock, which another thread may have held at the moment of the fork.
            let process = owner.load(ordering: .acquiring)
            guard process == 0 || process == getpid() else {
                throw KeychainError(
                    .unavailable,
                    "This process was forked from one that had used the Secret Service, which GLib does not "
                        + "survive. Start a "
                        + "new program (exec, posix_spawn) instead."
                )
            }
            try GLibrary.load()
            return shared.withLock { shared in
                if let shared { return shared }
                owner.store(getpid(), ordering: .releasing)
                let thread = BusThread()
                shared = thread
                return thread
            }
        }

        private init() {
            context = glib.g_main_context_new()!
            let loop = glib.g_main_loop_new(context, 0)
            let thread = glib.g_thread_new(
                "keychain-bus",
                { loop in
                    let loop = OpaquePointer(loop)
                    glib.g_main_context_push_thread_default(glib.g_main_loop_get_context(loop))
                    glib.g_main_loop_run(loop)
                    return nil
                },
                UnsafeMutableRawPointer(loop)
            )
            // It lasts as long as the process.
            glib.g_thread_unref(thread)
        }

        /// Runs a closure on the thread, after those that were posted before.
        func post(_ work: @escaping @Sendable () -> Void) {
            let source = glib.g_idle_source_new()
            glib.g_source_set_priority(source, G_PRIORITY_DEFAULT)
            attach(source, work)
        }

        /// Runs a closure on the thread when some time has passed.
        func post(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
            attach(glib.g_timeout_source_new(UInt32(delay.milliseconds)), work)
        }

        private func attach(_ source: UnsafeMutablePointer<GSource>?, _ work: @escaping @Sendable () -> Void) {
            let work = Work(run: work)
            work.isPublished.store(true, ordering: .releasing)
            glib.g_source_set_callback(
                source,
                { box in
                    let work = Unmanaged<Work>.fromOpaque(box!).takeUnretainedValue()
                    if work.isPublished.load(ordering: .acquiring) { work.run() }
                    return 0
                },
                Unmanaged.passRetained(work).toOpaque(),
                { box in Unmanaged<Work>.fromOpaque(box!).release() }
            )
            _ = glib.g_source_attach(source, context)
            glib.g_source_unref(source)
        }

        private final class Work: Sendable {
            let run: @Sendable () -> Void
            /// Orders what was written before the hand-over before what is read after it.
            ///
            /// GLib's own lock does so as well, but the thread sanitizer does not see that one.
            let isPublished = Atomic(false)

            init(run: @escaping @Sendable () -> Void) {
                self.run = run
            }
        }
    }

    /// Ends calls early, from any thread.
    ///
    /// Unchecked because of the pointer: GLib's cancellables are safe to use from any thread.
    final class Cancellable: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<GCancellable> = glib.g_cancellable_new()!

        func cancel() {
            glib.g_cancellable_cancel(pointer)
        }

        deinit {
            glib.g_object_unref(pointer)
        }
    }
#endif
