// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import Testing

    @testable import BackendFile

    /// What a user without privileges may do; run as root, the tests give theirs up in a process of its own.
    struct PermissionTests {
        private let scratch = Scratch()
        private let executable: String

        init() throws {
            executable = "\(scratch.folder)/tool"
            try FileManager.default.copyItem(atPath: Tool.path, toPath: executable)
            _ = scratch.keyFile
            try scratch.driver("\(scratch.folder)/store/a.keychain").add("bob", "x")
            try own("key", "store", "store/a.keychain", "store/.a.keychain.lock", "")
            #expect(chmod(executable, 0o755) == 0)
        }

        private static let user: uid_t = geteuid() == 0 ? 65534 : geteuid()
        private var path: String { "\(scratch.folder)/store/a.keychain" }

        private func own(_ names: String...) throws {
            for name in names where geteuid() == 0 {
                #expect(chown("\(scratch.folder)/\(name)", Self.user, Self.user) == 0)
            }
        }

        private func run(_ verb: String, _ arguments: String..., path: String? = nil) throws -> (
            status: Int32, lines: [String], errors: String
        ) {
            let user = "\(Self.user)"
            let wrapper = geteuid() == 0 ? ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"] : []
            return try Tool.run(
                [verb, path ?? self.path, "\(scratch.folder)/key"] + arguments,
                wrapper: wrapper,
                executable: executable
            )
        }

        @Test func theOwnerMayReadAndWrite() throws {
            #expect(try run("add", "carol").lines == ["added"])
            #expect(try run("list").lines.sorted() == ["bob", "carol"])
        }

        @Test func aReadOnlyFolderAndFileCanBeRead() throws {
            #expect(chmod(path, 0o400) == 0)
            #expect(chmod("\(scratch.folder)/store", 0o500) == 0)
            let before = try scratch.bytes(path)
            #expect(try run("list").lines == ["bob"])
            #expect(try run("get", "bob").lines == ["x"])
            let store = try run("add", "carol")
            #expect(store.status == 1)
            #expect(store.errors.contains("accessDenied"), "\(store.errors)")
            #expect(try scratch.bytes(path) == before)
        }

        @Test func aFolderWithoutALockFileCanBeReadWithoutMakingOne() throws {
            #expect(unlink("\(scratch.folder)/store/.a.keychain.lock") == 0)
            #expect(chmod("\(scratch.folder)/store", 0o500) == 0)
            #expect(try run("list").lines == ["bob"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(scratch.folder)/store") == ["a.keychain"])
            #expect(try run("add", "carol").errors.contains("accessDenied"))
        }

        @Test func aFileThatMayNotBeWrittenIsAccessDenied() throws {
            #expect(chmod(path, 0o400) == 0)
            let store = try run("add", "carol")
            #expect(store.status == 1)
            #expect(store.errors.contains("accessDenied"), "\(store.errors)")
            #expect(try run("list").lines == ["bob"])
        }

        @Test func aFolderThatMayNotBeEnteredIsNotAnEmptyStore() throws {
            #expect(chmod("\(scratch.folder)/store", 0o000) == 0)
            let list = try run("list")
            #expect(list.status == 1)
            #expect(list.errors.contains("accessDenied"), "\(list.errors)")
            #expect(chmod("\(scratch.folder)/store", 0o700) == 0)
        }

        @Test func aFileOfAnotherUserIsRefused() throws {
            // Root's, on every system, and read by everyone; that it is no keychain file is not even looked at.
            for verb in ["list", "add"] {
                let result = try run(verb, "carol", path: "/etc/passwd")
                #expect(result.status == 1)
                #expect(result.errors.contains("insecurePermissions"), "\(result.errors)")
                #expect(result.errors.contains("another user"), "\(result.errors)")
            }
        }

        @Test func rootLeavesAFileItRewritesToItsOwner() throws {
            try scratch.driver(path).compact(CallContext(.store))
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_uid == Self.user && status.st_gid == Self.user && status.st_mode & 0o777 == 0o600)
            #expect(try run("list").lines == ["bob"])
        }
    }
#endif
