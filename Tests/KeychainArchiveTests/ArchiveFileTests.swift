// SPDX-License-Identifier: MIT

#if File
    import BackendFile
    import BackendMemory
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainArchive
    import KeychainAuthentication
    import KeychainSodium
    import KeychainSystem
    import Testing

    /// Archives as files, between stores.
    final class ArchiveFileTests {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "archive-\(UUID().uuidString)")
        private let key = KeyMaterial.key(SecureBytes(Data(repeating: 7, count: 32)))
        private let source = Keychain(driver: MemoryDriver())

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private var path: String { folder.appending(path: "backup.archive").path }
        private var isThere: Bool { FileManager.default.fileExists(atPath: path) }

        private func password(_ account: String) -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>()
            query.account = account
            return query
        }

        @Test func aBackupIsRestoredIntoAnotherKindOfStore() throws {
            try source.store("1", query: password("a"))
            try source.with { $0.accessGroup = AccessGroup(rawValue: "team") }.store("2", query: password("b"))
            let written = try source.exportArchive(to: path, key: key)
            #expect(written.archived == 2 && written.keptOnDevice == 0)
            let driver = try FileDriver(
                path: folder.appending(path: "k").path,
                options: StoreOptions(keySource: .material(key), creation: .ifMissing),
                environment: ["HOME": folder.path]
            )
            let target = Keychain(driver: driver)
            let read = try target.importArchive(from: path, key: key)
            #expect(read.migrated == 2 && read.skipped == 0)
            #expect(try target.retrieve(password("a")) == "1")
            #expect(try target.with { $0.accessGroup = AccessGroup(rawValue: "team") }.retrieve(password("b")) == "2")
            #expect(try target.importArchive(from: path, key: key).skipped == 2, "A second time nothing is new.")
        }

        @Test func aPassphraseTakesTheWorkOfASecond() throws {
            try source.store("1", query: password("a"))
            let passphrase = KeyMaterial.passphrase(SecureBytes(Data("correct horse".utf8)))
            try source.exportArchive(to: path, key: passphrase)
            let header = try Data(contentsOf: URL(filePath: path)).prefix(24)
            #expect(Array(header[12...]) == [3, 0, 0, 0] + [0, 0, 0, 0x10, 0, 0, 0, 0], "3 passes over 256 MiB")
            #expect(try Keychain(driver: MemoryDriver()).importArchive(from: path, key: passphrase).migrated == 1)
        }

        @Test func theScopeSaysWhichGroups() throws {
            let team = source.with { $0.accessGroup = AccessGroup(rawValue: "team") }
            try source.store("1", query: password("a"))
            try team.store("2", query: password("b"))
            #expect(try team.exportArchive(to: path, key: key, scope: .group).archived == 1)
            let target = Keychain(driver: MemoryDriver(), accessGroup: AccessGroup(rawValue: "own"))
            #expect(try target.importArchive(from: path, key: key, scope: .group).migrated == 1)
            #expect(try target.retrieve(password("b")) == "2")
        }

        @Test func whatIsThereIsNotLostToAnOldBackup() throws {
            try source.store("old", query: password("a"))
            try source.store("free", query: password("b"))
            try source.exportArchive(to: path, key: key)
            let target = Keychain(driver: MemoryDriver())
            try target.store("new", query: password("a"))
            let error = #expect(throws: KeychainError.self) { try target.importArchive(from: path, key: key) }
            #expect(error?.code == .duplicateItem)
            #expect(try target.retrieve(password("a")) == "new")
            #expect(try !target.contains(password("b")), "All or none.")
            #expect(try target.importArchive(from: path, key: key, ifExists: .skip).migrated == 1)
            #expect(try target.importArchive(from: path, key: key, ifExists: .replace).migrated == 2)
            #expect(try target.retrieve(password("a")) == "old")
        }

        @Test func theOldestMatchStaysTheOldest() throws {
            for account in ["c", "a", "b"] { try source.store(account, query: password(account)) }
            try source.exportArchive(to: path, key: key)
            let target = Keychain(driver: MemoryDriver())
            try target.importArchive(from: path, key: key)
            #expect(try target.infoAll(for: SecItemQuery<GenericPassword>()).map(\.account) == ["c", "a", "b"])
        }

        @Test func whatBelongsToThisDeviceStays() throws {
            let own = AccessPolicy(.whenUnlockedThisDeviceOnly)
            try source.store("stays", query: password("a"), accessPolicy: own)
            let error = #expect(throws: KeychainError.self) { try source.exportArchive(to: path, key: key) }
            #expect(error?.code == .unsupported && !isThere)
            try source.store("goes", query: password("b"))
            let summary = try source.exportArchive(to: path, key: key)
            #expect(summary.archived == 1 && summary.keptOnDevice == 1)
            let target = Keychain(driver: MemoryDriver())
            #expect(try target.importArchive(from: path, key: key).migrated == 1)
            #expect(try !target.contains(password("a")))
        }

        @Test func anItemWithAPasswordOfItsOwnIsSealedAnew() throws {
            let sealed = AccessPolicy(.whenUnlocked, options: .applicationPassword)
            let secured = source.with { [cost = DerivationCost.minimal] in
                $0.applicationPassword = Argon2Password(SecureBytes(Data("pw".utf8)), cost: cost)
            }
            try secured.store("s3cret", query: password("a"), accessPolicy: sealed)
            let error = #expect(throws: KeychainError.self) { try source.exportArchive(to: path, key: key) }
            #expect(error?.code == .interactionNotAllowed && !isThere)
            try secured.exportArchive(to: path, key: key)
            let target = Keychain(driver: MemoryDriver())
            let other = #expect(throws: KeychainError.self) { try target.importArchive(from: path, key: key) }
            #expect(other?.code == .interactionNotAllowed)
            let opened = target.with { $0.applicationPassword = secured.configuration.applicationPassword }
            try opened.importArchive(from: path, key: key)
            #expect(try opened.retrieve(password("a")) == "s3cret")
            #expect(throws: KeychainError.self) { try target.retrieve(password("a")) as String? }
            #expect(try opened.importArchive(from: path, key: key).skipped == 1, "The same value, sealed.")
        }

        @Test func onlyItsOwnerCanReadTheFile() throws {
            try source.store("1", query: password("a"))
            let mask = umask(0)
            defer { umask(mask) }
            try source.exportArchive(to: path, key: key)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        }

        @Test func aFileThatExistsIsLeftAsItIs() throws {
            try source.store("1", query: password("a"))
            try Data("precious".utf8).write(to: URL(filePath: path))
            let error = #expect(throws: KeychainError.self) { try source.exportArchive(to: path, key: key) }
            #expect(error?.code == .duplicateItem)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
            try FileManager.default.removeItem(atPath: path)
            #expect(symlink("\(path).target", path) == 0)
            #expect(throws: KeychainError.self) { try source.exportArchive(to: path, key: key) }
            #expect(!FileManager.default.fileExists(atPath: "\(path).target"), "Nor is a link followed.")
        }

        @Test func whatFailsLeavesNoFile() throws {
            let empty = #expect(throws: KeychainError.self) { try source.exportArchive(to: path, key: key) }
            #expect(empty?.code == .itemNotFound && !isThere)
            try source.store("1", query: password("a"))
            let weak = #expect(throws: KeychainError.self) {
                try source.exportArchive(to: path, key: .passphrase(SecureBytes(Data())))
            }
            #expect(weak?.code == .invalidParameter && !isThere)
            let nowhere = #expect(throws: KeychainError.self) { try source.exportArchive(to: "\(path)/x/y", key: key) }
            #expect(nowhere?.code == .invalidParameter)
        }

        @Test func whatIsNoArchiveIsSaidToBeNone() throws {
            for (bytes, code) in [
                (Data(), KeychainError.Code.decode), (Data("-----BEGIN CERTIFICATE-----".utf8), .decode),
                (Data("kcarchiv".utf8) + Data([2]) + Data(count: 100), .unsupported),
            ] {
                try bytes.write(to: URL(filePath: path))
                let error = #expect(throws: KeychainError.self) { try source.importArchive(from: path, key: key) }
                #expect(error?.code == code)
            }
            let missing = #expect(throws: KeychainError.self) { try source.importArchive(from: "\(path)x", key: key) }
            #expect(missing?.code == .unavailable)
        }

        @Test func aPipeThatNobodyWritesToEndsAtTheDeadline() throws {
            #expect(mkfifo(path, 0o600) == 0)
            let keychain = source.with { $0.timeout = .milliseconds(200) }
            let error = #expect(throws: KeychainError.self) { try keychain.importArchive(from: path, key: key) }
            #expect(error?.code == .timedOut)
        }

        @Test func theAsynchronousFormsDoTheSame() async throws {
            try await source.store("1", query: password("a"))
            let written = try await source.exportArchive(to: path, key: key) { _ in }
            #expect(written.archived == 1)
            let target = Keychain(driver: MemoryDriver())
            #expect(try await target.importArchive(from: path, key: key).migrated == 1)
        }

        /// A second implementation, which knows the description of the format alone.
        @Test func anotherProgramReadsIt() throws {
            var query = password("a\u{301}")
            query.service = "s"
            query.creator = FourCharCode("abcd")
            query.generic = Data([0, 255])
            query.isInvisible = true
            try source.store("value", query: query)
            try source.store(Data(repeating: 1, count: 100_000), query: password("large"))
            for material in [key, .passphrase(SecureBytes(Data("correct horse".utf8)))] {
                let file = folder.appending(path: UUID().uuidString)
                try source.exportArchive(to: file.path, key: material)
                let secret =
                    switch material {
                    case .passphrase(let bytes), .key(let bytes): bytes.withBytes { Data($0) }
                    }
                let lines = try Self.readByPython(file.path, secret).split(separator: "\n")
                try #require(lines.count == 2)
                let first = try #require(
                    try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any]
                )
                let attributes = try #require(first["attributes"] as? [String: Any])
                #expect(first["class"] as? String == "genp")
                #expect(first["value"] as? String == Data("value".utf8).base64EncodedString())
                #expect((attributes["account"] as? String).map { Array($0.utf8) } == Array("a\u{301}".utf8))
                #expect(attributes["creator"] as? Int == 0x6162_6364)
                #expect((attributes["generic"] as? [String: String])?["base64"] == "AP8=")
                #expect(attributes["isInvisible"] as? Bool == true)
            }
        }

        private static func readByPython(_ path: String, _ secret: Data) throws -> String {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/python3")
            let reader = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Reader/read-archive")
            process.arguments = [reader.path, path]
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: secret)
            try input.fileHandleForWriting.close()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return String(decoding: text, as: UTF8.self)
        }

        /// What was written once can be read for ever.
        @Test(arguments: [
            ("version-1-passphrase", KeyMaterial.passphrase(SecureBytes(Data("correct horse battery staple".utf8)))),
            ("version-1-key", .key(SecureBytes(Data(0..<32)))),
        ])
        func anArchiveOfVersionOneIsRead(name: String, key: KeyMaterial) throws {
            let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "Fixtures/\(name).archive"
            )
            let target = Keychain(driver: MemoryDriver())
            #expect(try target.importArchive(from: fixture.path, key: key).migrated == 3)
            var full = password("bob")
            full.service = "example"
            #expect(try target.retrieve(full) == "s3cret")
            #expect(try target.info(for: full)?.label == "A label")
            #expect(try target.info(for: full)?.generic == Data([0, 255]))
            let team = target.with { $0.accessGroup = AccessGroup(rawValue: "team") }
            var web = SecItemQuery<InternetPassword>()
            web.server = "example.com"
            web.synchronizable = .synchronizable
            #expect(try team.retrieve(web) == "w")
            #expect(try team.info(for: web)?.port == 8443)
            let large: Data? = try target.retrieve(password("large"))
            #expect(large == Data(repeating: 7, count: 70_000))
        }
    }
#endif
