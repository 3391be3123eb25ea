// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// Processes and file systems that are not as one would like them.
    struct SurroundingsTests {
        private let scratch = Scratch()

        // fork(2) without exec.

        @Test func aForkedChildAndItsParentLoseNothing() throws {
            let result = try Tool.run(["fork", scratch.path, scratch.keyFile])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.lines == ["41 items, status 0"])
            let names = ["child", "parent"].flatMap { name in (0..<20).map { "\(name)-\($0)" } }
            #expect(try Set(scratch.driver().contents().keys) == Set(names + ["before"]))
        }

        @Test func aForkedChildDoesNotKeepTheLock() throws {
            let tool = try Tool(["fork-locked", scratch.path, scratch.keyFile])
            #expect(tool.line() == "ready")
            let short = CallContext(.store, timeout: .seconds(5))
            let driver = try scratch.driver()
            try driver.write(short) { (writer) throws(KeychainError) in
                try writer.commit([.insert(passwordRecord("other"), SecureBytes([]))])
            }
            #expect(try driver.all().count == 2)
            try tool.closeInput()
            #expect(try tool.finish().status == 0)
        }

        // A file system without locks.

        @Test(arguments: [ENOLCK, EOPNOTSUPP])
        func withoutLocksAFileIsReadAndNotWritten(number: Int32) throws {
            try scratch.driver().add("bob", "x")
            let before = try scratch.bytes()
            let wrapper = try preloading("int flock(int file, int what) { errno = \(number); return -1; }")
            #expect(try Tool.run(["list", scratch.path, scratch.keyFile], wrapper: wrapper).lines == ["bob"])
            for path in [scratch.path, "\(scratch.folder)/new.keychain"] {
                let add = try Tool.run(["add", path, scratch.keyFile, "carol"], wrapper: wrapper)
                #expect(add.status == 1)
                #expect(add.errors.contains("unsupported: ") && add.errors.contains("use a local one"), "\(add.errors)")
            }
            #expect(try scratch.bytes() == before)
            #expect(!FileManager.default.fileExists(atPath: "\(scratch.folder)/new.keychain"))
        }

        // A file system that is mounted read-only.

        @Test func aReadOnlyFileSystemCanBeRead() throws {
            let folder = "\(scratch.folder)/mounted"
            let path = "\(folder)/a.keychain"
            try scratch.driver(path).add("bob", "x")
            let before = try scratch.bytes(path)
            // As it is refused by the kernel, or, where no one may mount anything, in its name.
            let wrapper =
                Self.mayMount
                ? Self.mounting("mount --bind '\(folder)' '\(folder)' && mount -o remount,ro,bind '\(folder)'")
                : try preloading(
                    """
                    int open(const char *path, int flags, ...) {
                        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
                        if (strstr(path, ".keychain") && (flags & O_ACCMODE) != O_RDONLY) { errno = EROFS; return -1; }
                        return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
                    }
                    """
                )
            #expect(try Tool.run(["list", path, scratch.keyFile], wrapper: wrapper).lines == ["bob"])
            #expect(try Tool.run(["get", path, scratch.keyFile, "bob"], wrapper: wrapper).lines == ["x"])
            for verb in ["add", "compact"] {
                let result = try Tool.run([verb, path, scratch.keyFile, "carol"], wrapper: wrapper)
                #expect(result.status == 1)
                #expect(result.errors.contains("readOnly: "), "\(result.errors)")
            }
            #expect(try scratch.bytes(path) == before)
        }

        // A disk that is full.

        @Test func aDiskThatFillsUpKeepsWhatWasAcknowledged() throws {
            let folder = "\(scratch.folder)/small"
            #expect(mkdir(folder, 0o700) == 0)
            // The writer, and then, on the same disk, a reader, and one that removes nothing and rewrites.
            let both = "\"$@\"; echo \"status $?\"; shift 1; \"$0\" list \"$2\" \"$3\""
            let limit =
                Self.mayMount ? "mount -t tmpfs -o size=128k none '\(folder)'" : "ulimit -f 100"
            let wrapper = Self.mounting("\(limit) && { \(both); }", name: Tool.path)
            let result = try Tool.run(
                ["store", "\(folder)/a.keychain", scratch.keyFile, "p", "100000"],
                wrapper: wrapper
            )
            #expect(result.status == 0)
            #expect(result.errors.contains("outOfSpace"), "\(result.errors)")
            let parts = result.lines.split(separator: "status 1")
            #expect(parts.count == 2)
            #expect(parts.first?.count ?? 0 > 10)
            #expect(Set(parts.first ?? []) == Set(parts.last ?? []))
        }

        // Helpers.

        /// Whether this process may have file systems of its own.
        private static let mayMount: Bool = {
            let try_ = try? Tool.run([], wrapper: mounting("mount -t tmpfs none /tmp"), executable: "true")
            return try_?.status == 0
        }()

        /// A command that mounts something that only the command after it sees.
        private static func mounting(_ script: String, name: String = "sh") -> [String] {
            let own = geteuid() == 0 ? ["unshare", "-m"] : ["unshare", "-r", "-m"]
            let after = name == "sh" ? " && exec \"$@\"" : ""
            return own + ["sh", "-c", script + after, name]
        }

        /// A command that replaces a function of the C library.
        private func preloading(_ function: String) throws -> [String] {
            let source = """
                #define _GNU_SOURCE
                #include <errno.h>
                #include <fcntl.h>
                #include <stdarg.h>
                #include <string.h>
                #include <sys/syscall.h>
                #include <unistd.h>
                \(function)

                """
            let path = "\(scratch.folder)/shim"
            try Data(source.utf8).write(to: URL(fileURLWithPath: "\(path).c"))
            // Where Swift links, there is a C compiler.
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = ["clang", "-shared", "-fPIC", "-o", "\(path).so", "\(path).c"]
            try compiler.run()
            compiler.waitUntilExit()
            #expect(compiler.terminationStatus == 0)
            return ["env", "LD_PRELOAD=\(path).so"]
        }
    }
#endif
