// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI

/// A folder for one benchmark, removed with everything in it.
final class Scratch {
    let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Makes a file that only its owner may touch.
    func put(_ content: Data, at name: String) throws -> String {
        guard
            FileManager.default.createFile(
                atPath: path(name),
                contents: content,
                attributes: [.posixPermissions: 0o600]
            )
        else { throw BenchmarkError("There is no room for ‘\(path(name))’.") }
        return path(name)
    }
}

/// What is stored, the same for every store and peer.
enum Sample {
    /// How many items share one service.
    static let itemsPerService = 10
    /// A value of 256 bytes.
    static let value = Data((0..<256).map { UInt8(truncatingIfNeeded: $0 &* 37) })

    static func service(_ number: Int) -> String { "service-\(number / itemsPerService).example" }
    static func account(_ number: Int) -> String { "account-\(number)" }

    /// The query of one item.
    static func query(_ number: Int) -> SecItemQuery<GenericPassword> {
        var query = SecItemQuery<GenericPassword>()
        query.service = service(number)
        query.account = account(number)
        return query
    }

    /// Numbers of items that are spread over a store, in no order that a cache could guess.
    static func spread(_ run: Int, over count: Int) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: run) &* 2_654_435_761 % UInt(count))
    }
}

#if File
    import BackendFile

    extension Scratch {
        /// The key of every file here: raw bytes, so that no time goes into deriving it.
        static let key = Data(0..<32)

        /// A driver that knows nothing of its file yet, and remembers what it has seen next to it: not in the folder of the
        /// person who measures.
        static func driver(_ path: String) throws -> FileDriver {
            let options = StoreOptions(
                keySource: .material(.key(SecureBytes(key))),
                creation: .ifMissing
            )
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return try FileDriver(path: path, options: options, environment: ["XDG_STATE_HOME": "\(folder)/state"])
        }

        /// A file with items, opened.
        ///
        /// - Parameters:
        ///   - count: How many items.
        ///   - name: The name of the file.
        ///   - commitSize: How many items come in one commit.
        func store(of count: Int, _ name: String, commitSize: Int = 1_000) throws -> Keychain {
            let keychain = Keychain(driver: try Self.driver(path(name)))
            for start in stride(from: 0, to: count, by: commitSize) {
                try keychain.transaction { keychain in
                    for number in start..<min(start + commitSize, count) {
                        try keychain.store(Sample.value, query: Sample.query(number))
                    }
                }
            }
            return keychain
        }
    }
#endif

/// The length of a file.
func fileSize(_ path: String) throws -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else { throw BenchmarkError("‘\(path)’ cannot be looked at.") }
    return Int(status.st_size)
}
