// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import SwiftKeychain
import Testing

@testable import KeychainCommand

/// `init`, `stores`, `doctor` and `conformance`, and which store a command uses.
struct StoreCommandTests {
    private let bench = Bench()

    private func lines(_ outcome: Bench.Outcome) -> [[String]] {
        outcome.text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// A driver that cannot be used here.
    private func driver(_ identifier: DriverIdentifier, _ priority: Int?, _ availability: DriverAvailability)
        -> DriverRegistration
    {
        DriverRegistration(
            identifier: identifier,
            summary: "a driver",
            priority: priority,
            probe: { _ in availability }
        ) {
            (_, _) throws(KeychainError) in
            throw KeychainError(.unavailable, "It cannot be opened.")
        }
    }

    /// The names of everything in the home, to see that nothing was written.
    private var home: [String] {
        FileManager.default.enumerator(atPath: bench.folder)?.compactMap { $0 as? String }
            .filter { !$0.hasSuffix(".in") && !$0.hasSuffix(".out") && !$0.hasSuffix(".err") } ?? []
    }

    @Test func storesSaysWhatThereIsAndWhatIsChosen() async throws {
        let registry = DriverRegistry([
            .memory, driver("keyring", 200, .unavailable("Install it.")),
            driver("box", 100, .available("It is there.")),
        ])
        let outcome = try await bench.run("stores", environment: ["HOME": bench.folder], registry: registry)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(
            lines(outcome) == [
                ["keyring", "unavailable", "Install it."], ["box", "available", "It is there."],
                ["memory", "available", "It needs nothing."], ["default", "box:", "It is there."],
            ]
        )
        #expect(home.isEmpty)
    }

    @Test func storesNeverFails() async throws {
        let silent = DriverRegistry([driver("keyring", 200, .unreachable("It does not answer.")), .memory])
        let outcome = try await bench.run("stores", environment: ["HOME": bench.folder], registry: silent)
        #expect(outcome.status == 0)
        #expect(lines(outcome).last?.prefix(2) == ["default", "none"])
        #expect(lines(outcome).last?[2].contains("does not answer") == true)
        let garbage = try await bench.run("stores", environment: ["HOME": bench.folder, "KEYCHAIN_STORE": "garbage"])
        #expect(garbage.status == 0)
        #expect(lines(garbage).last?[2].contains("KEYCHAIN_STORE: This is not a store URL") == true)
        let none = try await bench.run("stores", environment: ["HOME": bench.folder], registry: DriverRegistry())
        #expect(none.status == 0 && lines(none).last?[1] == "none")
        let json = try await bench.run("stores", "--json", environment: ["HOME": bench.folder], registry: silent)
        let objects = try json.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
        }
        #expect(objects.map { $0["driver"] ?? $0["code"] } == ["keyring", "memory", "unavailable"])
    }

    @Test func storesTellsAboutTheStoreThatIsNamed() async throws {
        #expect(lines(try await bench.run("stores")).last?.prefix(2) == ["default", bench.store])
        #expect(lines(try await bench.run("stores", "--store", "memory:x")).last?[1] == "memory:x")
    }

    @Test func doctorLooksAndWritesNothing() async throws {
        let environment = [
            "HOME": bench.folder, "KEYCHAIN_STORE": "memory:", "KEYCHAIN_KEY": "hunter2", "KEYCHAIN_GROUP": "g",
        ]
        let outcome = try await bench.run("doctor", environment: environment)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(!outcome.text.contains("hunter2"))
        let findings = Dictionary(lines(outcome).map { ($0[1], $0) }) { first, _ in first }
        #expect(findings["memory:"]?[0] == "ok")
        #expect(findings["session bus"]?[0] == "note")
        #expect(findings["KEYCHAIN_KEY"]?[2] == "It is set.")
        #expect(findings["KEYCHAIN_GROUP"]?[2] == "It is set to ‘g’.")
        #expect(findings["key source"]?[0] == "problem")
        #expect(findings["remembered store"]?[0] == "ok")
        #expect(findings["locked memory"] != nil)
        #expect(home.isEmpty)
    }

    private func examine(
        _ variables: [String: String] = [:],
        key: String? = nil,
        permissions: StoreOptions.Permissions = .ownerOnly,
        survey: [DriverRegistry.Report] = DriverRegistry([.memory]).survey()
    ) -> [String: Finding] {
        let findings = Examination(
            environment: variables.merging(["HOME": bench.folder]) { first, _ in first },
            survey: survey,
            choice: .failure(KeychainError(.unavailable, "none")),
            keySource: key,
            permissions: permissions
        ).findings
        return Dictionary(findings.map { ($0.subject, $0) }) { first, _ in first }
    }

    @Test func doctorFindsTheBus() throws {
        let path = "\(bench.folder)/bus"
        #expect(examine(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"])["session bus"]?.status == .problem)
        #expect(examine(["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x"])["session bus"]?.status == .note)
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        try #require(bound == 0)
        #expect(examine(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path),guid=1"])["session bus"]?.status == .ok)
        #expect(examine(["XDG_RUNTIME_DIR": bench.folder])["session bus"]?.status == .ok)
        #expect(Examination.socketPaths("tcp:host=x;unix:guid=1,path=/a%20b;unix:path=/c") == ["/a b", "/c"])
    }

    @Test func doctorFindsKeysThatOthersCanRead() throws {
        let path = try bench.keyFile()
        #expect(examine(key: "keyfile:\(path)")["key source"]?.status == .ok)
        #expect(chmod(path, 0o644) == 0)
        #expect(examine(key: "keyfile:\(path)")["key source"]?.remedy == "Close it: chmod 600 '\(path)'")
        #expect(examine(key: "file:\(path)")["key source"]?.status == .problem)
        #expect(examine(key: "file:\(path)", permissions: .any)["key source"]?.status == .note)
        #expect(chmod(path, 0o600) == 0)
        try Data([1]).write(to: URL(filePath: path))
        #expect(chmod(path, 0o600) == 0)
        #expect(examine(key: "keyfile:\(path)")["key source"]?.message.contains("1 bytes") == true)
        #expect(examine(key: "keyfile:/dev/null/missing")["key source"]?.status == .problem)
        #expect(examine(key: "env:NOT_SET")["key source"]?.status == .problem)
        #expect(
            examine(["SET": "hunter2"], key: "env:SET")["key source"]
                == Finding(.ok, "key source", "The variable ‘SET’ is set.")
        )
        #expect(examine(key: "credential:x")["key source"]?.status == .problem)
        #expect(examine(key: "prompt")["key source"] == nil)
    }

    @Test func doctorReadsTheRememberedStore() throws {
        let folder = "\(bench.folder)/.local/state/swift-keychain"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("file:/x\n".utf8).write(to: URL(filePath: folder + "/default-store"))
        #expect(examine()["remembered store"]?.message.hasPrefix("file:/x, named in") == true)
        try Data("garbage".utf8).write(to: URL(filePath: folder + "/default-store"))
        #expect(examine()["remembered store"]?.status == .problem)
    }

    @Test func aDriverThatIsUnknownIsUnavailable() async throws {
        for command in ["get", "contains", "info", "rm"] {
            #expect(try await bench.run(command, "svc", "--store", "nothing:x").status == 6, "\(command)")
        }
        #expect(try await bench.run("init", "--store", "nothing:x").status == 6)
        #expect(
            try await bench.run("ls", environment: ["HOME": bench.folder, "KEYCHAIN_STORE": "garbage"]).status == 2
        )
    }

    @Test func aLockedStoreThatMayNotAskIsLocked() async throws {
        let memory = MemoryDriver()
        let registry = DriverRegistry([
            DriverRegistration(identifier: "box", summary: "", priority: 1, probe: { _ in .available("") }) { (_, _) in
                memory
            }
        ])
        memory.inject(.locked)
        for command in ["get", "contains", "info", "rm"] {
            let outcome = try await bench.run(command, "svc", "--store", "box:", "--no-prompt", registry: registry)
            #expect(outcome.status == 4 && outcome.output.isEmpty, "\(command)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func conformanceOfAStoreThatKeepsTheContract() async throws {
        let store = "memory:\(UUID().uuidString)"
        #expect(try await bench.run("set", "mine", "--store", store, input: Data("1".utf8)).status == 0)
        let outcome = try await bench.run("conformance", "--store", store)
        #expect(outcome.status == 0)
        let rows = lines(outcome)
        #expect(rows.count > 150)
        #expect(rows.allSatisfy { ["ok", "not applicable"].contains($0[0]) })
        #expect(rows.contains { $0[0] == "not applicable" && $0[3].contains("lock the store") })
        // The store is as it was.
        #expect(lines(try await bench.run("ls", "--store", store)).count == 1)
    }

    @Test(.timeLimit(.minutes(5))) func conformanceOfAStoreThatDoesNot() async throws {
        let memory = MemoryDriver()
        memory.inject(.failing(.io), afterCalls: 1, times: 1)
        let registry = DriverRegistry([
            DriverRegistration(identifier: "box", summary: "", priority: 1, probe: { _ in .available("") }) { (_, _) in
                memory
            }
        ])
        let outcome = try await bench.run("conformance", "--json", "--store", "box:", registry: registry)
        #expect(outcome.status == 10)
        #expect(outcome.text.contains("\"status\":\"failed\""))
        #expect(try await bench.run("conformance", environment: ["HOME": bench.folder]).status == 2)
        #expect(try await bench.run("conformance", "--store", "nothing:").status == 6)
        #expect(try await bench.run("conformance", "--store", "memory:x", "--timeout", "0.000001").status == 8)
    }

}
