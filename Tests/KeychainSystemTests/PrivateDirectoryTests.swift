// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import KeychainSystem
import Testing

@Suite struct PrivateDirectoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func theStandardPlaces() throws {
        let environment = [
            "HOME": "/home/bob", "XDG_DATA_HOME": "/data", "XDG_STATE_HOME": "/state", "XDG_RUNTIME_DIR": "/run/user/7",
        ]
        #expect(try PrivateDirectory.data(environment: environment) == "/data/swift-keychain")
        #expect(try PrivateDirectory.state(environment: environment) == "/state/swift-keychain")
        #expect(try PrivateDirectory.runtime(environment: environment) == "/run/user/7/swift-keychain")
    }

    @Test func theirDefaults() throws {
        let environment = ["HOME": "/home/bob"]
        #expect(try PrivateDirectory.data(environment: environment) == "/home/bob/.local/share/swift-keychain")
        #expect(try PrivateDirectory.state(environment: environment) == "/home/bob/.local/state/swift-keychain")
        #expect(try PrivateDirectory.runtime(environment: environment) == "/tmp/swift-keychain-\(geteuid())")
    }

    @Test(arguments: ["", "relative", "./x"])
    func relativePathsAreIgnored(_ path: String) throws {
        let environment = [
            "HOME": "/home/bob", "XDG_DATA_HOME": path, "XDG_STATE_HOME": path, "XDG_RUNTIME_DIR": path,
        ]
        #expect(try PrivateDirectory.data(environment: environment) == "/home/bob/.local/share/swift-keychain")
        #expect(try PrivateDirectory.state(environment: environment) == "/home/bob/.local/state/swift-keychain")
        #expect(try PrivateDirectory.runtime(environment: environment) == "/tmp/swift-keychain-\(geteuid())")
    }

    @Test func withoutAHomeTheUsersEntryIsAsked() throws {
        let home = try #require(getpwuid(geteuid())?.pointee.pw_dir)
        let expected = String(cString: home) + "/.local/share/swift-keychain"
        #expect(try PrivateDirectory.data(environment: [:]) == expected)
        #expect(try PrivateDirectory.data(environment: ["HOME": "relative"]) == expected)
    }

    @Test func makesTheFolderAndItsParentsForTheOwnerAlone() throws {
        let path = folder.path + "/a/b/c"
        try PrivateDirectory.ensure(path)
        for part in ["/a", "/a/b", "/a/b/c"] {
            #expect(status(folder.path + part)?.mode == 0o700)
            #expect(status(folder.path + part)?.owner == geteuid())
        }
        try PrivateDirectory.ensure(path)
        try PrivateDirectory.ensure(path + "/")
        try PrivateDirectory.requirePrivate(path)
    }

    @Test func theUmaskDoesNotOpenIt() async {
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            umask(0)
            try PrivateDirectory.ensure(path + "/open/x")
            #expect(status(path + "/open")?.mode == 0o700)
            #expect(status(path + "/open/x")?.mode == 0o700)
        }
    }

    @Test func aFolderThatIsThereStaysAsItIs() throws {
        let path = folder.path + "/shared"
        mkdir(path, 0o700)
        chmod(path, 0o775)
        try PrivateDirectory.ensure(path)
        #expect(status(path)?.mode == 0o775)
    }

    @Test func anythingElseOfThatNameIsRefused() throws {
        let file = try folder.file("file")
        #expect(throws: KeychainError(.unavailable, "")) { try PrivateDirectory.ensure(file) }
        #expect(throws: KeychainError(.unavailable, "")) { try PrivateDirectory.ensure(file + "/below") }
        symlink(folder.path + "/nowhere", folder.path + "/dangling")
        #expect(throws: KeychainError(.unavailable, "")) { try PrivateDirectory.ensure(folder.path + "/dangling") }
        #expect(throws: KeychainError.self) { try PrivateDirectory.ensure("") }
    }

    @Test(arguments: [0o770, 0o702, 0o777, 0o1777] as [mode_t])
    func aFolderThatOthersCanWriteToIsNotPrivate(_ mode: mode_t) throws {
        let path = folder.path + "/open"
        mkdir(path, 0o700)
        chmod(path, mode)
        let error = #expect(throws: KeychainError.self) { try PrivateDirectory.requirePrivate(path) }
        #expect(error?.code == .insecurePermissions)
        #expect(error?.message.contains(path) == true)
    }

    @Test func aLinkOrFileIsNotPrivate() throws {
        symlink(folder.path, folder.path + "/link")
        #expect(throws: KeychainError(.insecurePermissions, "")) {
            try PrivateDirectory.requirePrivate(folder.path + "/link")
        }
        let file = try folder.file("file")
        #expect(throws: KeychainError(.insecurePermissions, "")) { try PrivateDirectory.requirePrivate(file) }
        #expect(throws: KeychainError(.unavailable, "")) {
            try PrivateDirectory.requirePrivate(folder.path + "/missing")
        }
    }

    @Test func aFolderOfSomeoneElseIsNotPrivate() async {
        await #expect(processExitsWith: .success) {
            dropPrivileges()
            #expect(geteuid() != 0)
            // Root's, and closed to writers: only the owner is wrong.
            #expect(throws: KeychainError(.insecurePermissions, "")) { try PrivateDirectory.requirePrivate("/usr") }
        }
    }

    @Test func aFolderThatMayNotBeWrittenToIsAccessDenied() async {
        await #expect(processExitsWith: .success) {
            dropPrivileges()
            let error = #expect(throws: KeychainError.self) {
                try PrivateDirectory.ensure("/usr/swift-keychain-tests/x")
            }
            #expect(error?.code == .accessDenied)
            #expect(error?.underlying?.code == Int(EACCES))
        }
    }
}
