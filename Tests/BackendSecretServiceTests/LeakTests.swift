// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import Glibc
    import KeychainAPI
    import SecretServiceFixture
    import Testing

    @testable import BackendSecretService

    /// What drivers leave behind; in a process of its own, where nothing else opens anything.
    @Suite struct LeakTests {
        /// What a process and a bus have open.
        private struct Footprint: Equatable {
            var descriptors: Int
            var threads: Int
            var connections: Int

            init(_ server: some SecretServer) throws {
                let names = try server.python(
                    "print(len([n for n in bus.list_names() if n.startswith(':')]), end='')"
                )
                connections = try #require(Int(names))
                descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
                threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }

            /// Whether it has no more of anything; GLib and Dispatch keep a thread or two for a while.
            func isWithin(_ other: Footprint) -> Bool {
                descriptors <= other.descriptors + 2 && threads <= other.threads + 2 && connections == other.connections
            }
        }

        /// Opens a driver, reads one item and lets go of all of it, many times.
        private static func cycle(_ server: some SecretServer, _ count: Int) throws {
            for _ in 0..<count {
                let keychain = Keychain(driver: try server.driver())
                let found: String? = try keychain.retrieve(.credential(for: "svc"))
                if found != "v" { throw KeychainError(.internal, "It is not there.") }
            }
        }

        @Test func aThousandDriversLeaveNothing() async {
            await #expect(processExitsWith: .success) {
                let keyring = try PrivateKeyring.start()
                try Keychain(driver: keyring.driver()).store("v", query: .credential(for: "svc"))
                try Self.cycle(keyring, 10)
                let before = try Footprint(keyring)
                try Self.cycle(keyring, 1_000)
                var after = try Footprint(keyring)
                // The bus hears of the end of a connection a little later.
                for _ in 0..<50 where !after.isWithin(before) { after = try Footprint(keyring) }
                #expect(after.isWithin(before), "\(before) became \(after)")
            }
        }

        /// The processes that use a bus.
        private static func users(ofBus address: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
                guard Int(name) != nil, let environment = FileManager.default.contents(atPath: "/proc/\(name)/environ")
                else { return false }
                return environment.range(of: Data(address.utf8)) != nil
            }
        }

        @Test func aTestThatCrashesLeavesNoProgramRunning() async throws {
            let note = FileManager.default.temporaryDirectory.appendingPathComponent("buses-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: note) }
            await #expect(processExitsWith: .signal(SIGKILL)) { [note = note as String] in
                let servers: [any SecretServer] = [try PrivateKeyring.start(), try FaultyService.start()]
                try servers.map(\.bus.address).joined(separator: "\n")
                    .write(toFile: note, atomically: true, encoding: .utf8)
                for server in servers where try Self.users(ofBus: server.bus.address).count < 2 { exit(1) }
                kill(getpid(), SIGKILL)
            }
            for address in try String(contentsOfFile: note, encoding: .utf8).split(separator: "\n").map(String.init) {
                let start = ContinuousClock.now
                while try !Self.users(ofBus: address).isEmpty, ContinuousClock.now - start < .seconds(10) {}
                #expect(try Self.users(ofBus: address) == [])
                let folder = address.dropFirst("unix:path=".count).dropLast("/bus".count)
                try? FileManager.default.removeItem(atPath: String(folder))
            }
        }

        @Test func noSessionStaysOpen() throws {
            let service = try FaultyService.start()
            try Keychain(driver: service.driver()).store("v", query: .credential(for: "svc"))
            try Self.cycle(service, 50)
            let start = ContinuousClock.now
            while try service.report().sessions > 0, ContinuousClock.now - start < .seconds(10) {}
            #expect(try service.report().sessions == 0)
        }
    }
#endif
