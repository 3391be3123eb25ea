// SPDX-License-Identifier: MIT

import Foundation
import JSONFileDriver
import KeychainAPI
import KeychainConformance

/// Files in temporary folders of their own, and the program that opens them from other processes.
struct JSONFileHarness: ConformanceHarness {
    var powers: HarnessPowers { [.reopen, .processes, .freshStore] }

    func makeKeychain() throws -> Keychain {
        let folder = FileManager.default.temporaryDirectory.appending(path: "json-driver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        return try open(folder.appending(path: "items.json").path)
    }

    func discard(_ keychain: Keychain) throws {
        try FileManager.default.removeItem(at: file(of: keychain).deletingLastPathComponent())
    }

    func reopen(_ keychain: Keychain) throws -> Keychain { try open(file(of: keychain).path) }

    func workerCommand(for keychain: Keychain) -> WorkerCommand? {
        WorkerCommand(executable: Self.worker, storeURL: keychain.location)
    }

    func file(of keychain: Keychain) -> URL { URL(filePath: String(keychain.location.dropFirst("json:".count))) }

    private func open(_ path: String) throws -> Keychain {
        Keychain(driver: try JSONFileDriver(path: path), accessGroup: AccessGroup(rawValue: "conformance"))
    }

    /// SwiftPM builds it next to the bundle of the tests, which is the program itself or one of its arguments.
    private static let worker: String = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.bundlePath
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: "JSONDriverWorker").path
    }()
}
