// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import Glibc
    import KeychainAPI
    import KeychainSodium
    import Synchronization
    import Testing

    @testable import BackendFile

    /// What happens between naming a file and the first answer from it.
    struct OpeningTests {
        private let scratch = Scratch()

        // Creation.

        @Test func namingAFileLeavesNoTrace() throws {
            let driver = try scratch.driver("\(scratch.folder)/new/a.keychain")
            #expect(driver.location == "file:\(scratch.folder)/new/a.keychain")
            #expect(try driver.all() == [])
            #expect(try scratch.names() == [])
        }

        @Test func aMissingFileIsUnavailableBeforeAnyoneIsAsked() throws {
            let prompt = CountingPrompt("x")
            let driver = try FileDriver(
                path: scratch.path,
                options: StoreOptions(keySource: .prompt, prompt: prompt, creation: .never),
                environment: [:]
            )
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == .unavailable)
            #expect(code { () throws(KeychainError) in try driver.add("bob", "x") } == .unavailable)
            #expect(prompt.asked == [])
            #expect(try scratch.names() == [])
        }

        @Test func aWriteThatCommitsNothingCreatesNoStore() throws {
            let driver = try scratch.driver()
            try driver.write(CallContext(.remove)) { (writer) throws(KeychainError) in
                #expect(try writer.records(RecordSelection()) == [])
            }
            #expect(try scratch.names() == [".a.keychain.lock"])
        }

        @Test func theFirstCommitCreatesAFileForItsOwnerAlone() throws {
            let path = "\(scratch.folder)/one/two/a.keychain"
            let result = try Tool.run(
                ["add", path, scratch.keyFile, "bob"],
                wrapper: ["sh", "-c", "umask 0; exec \"$@\"", "sh"]
            )
            #expect(result.lines == ["added"])
            var status = stat()
            for (path, mode) in [
                (path, 0o600), ("\(scratch.folder)/one/two/.a.keychain.lock", 0o600), ("\(scratch.folder)/one", 0o700),
                ("\(scratch.folder)/one/two", 0o700),
            ] {
                #expect(stat(path, &status) == 0)
                #expect(Int(status.st_mode & 0o777) == mode, "\(path)")
            }
        }

        @Test func mustBeNewCreatesAtOnceAndRefusesWhatExists() throws {
            let options = StoreOptions(
                keySource: .material(.key(SecureBytes(Scratch.rawKey))),
                creation: .mustBeNew
            )
            let url = StoreURL(driver: .file, path: scratch.path)
            let registry = DriverRegistry([.file(environment: [:])])
            let driver = try registry.open(url, options: options)
            #expect(FileManager.default.fileExists(atPath: scratch.path))
            let before = try scratch.bytes()
            #expect(code { () throws(KeychainError) in _ = try registry.open(url, options: options) } == .duplicateItem)
            #expect(try scratch.bytes() == before)
            let records = try driver.read(CallContext(.info)) { (reader) throws(KeychainError) in
                try reader.records(RecordSelection())
            }
            #expect(records == [])
        }

        @Test(.timeLimit(.minutes(1))) func whoHasCreatedAFileKeepsNoOneFromWriting() throws {
            let driver = try scratch.driver()
            try driver.create(CallContext(.open))
            let call = CallContext(.store, timeout: .seconds(5))
            for (account, writer) in [("bob", driver), ("carol", try scratch.driver())] {
                try writer.write(call) { (writer) throws(KeychainError) in
                    try writer.commit([.insert(passwordRecord(account), SecureBytes(Data("x".utf8)))])
                }
            }
            #expect(try Tool.run(["add", scratch.path, scratch.keyFile, "dave"]).lines == ["added"])
            #expect(try driver.all().count == 3)
        }

        @Test func probingSaysWhatIsThereAndLeavesNoTrace() throws {
            let registration = DriverRegistration.file(environment: ["XDG_DATA_HOME": scratch.folder])
            let url = StoreURL(driver: .file, path: "")
            guard case .available(let missing) = registration.probe(url) else {
                Issue.record("A file that can be created is available")
                return
            }
            #expect(missing.contains("\(scratch.folder)/swift-keychain/default.keychain"))
            #expect(try scratch.names() == [])
            #expect(registration.priority == 100)
        }

        // Keys.

        @Test func aPassphraseUnlocksWhatItCreatedAlsoAnEmptyOne() throws {
            for text in ["correct horse", "", "päss\u{0}wörd"] {
                let path = "\(scratch.folder)/\(text.utf8.count).keychain"
                try scratch.driver(path, key: passphrase(text)).add("bob", "x")
                #expect(try scratch.driver(path, key: passphrase(text)).contents() == ["bob": Data("x".utf8)])
            }
        }

        @Test func theDefaultCostOfAPassphraseIsInteractive() throws {
            let driver = try FileDriver(
                path: scratch.path,
                options: StoreOptions(keySource: .material(passphrase("x")), creation: .ifMissing),
                environment: [:]
            )
            try driver.add("bob", "x")
            let slots = try SealedFile(FilePlace(scratch.path, environment: [:])).header.keySlots().map(\.slot)
            #expect(slots.map(\.kind) == [.passphrase])
            #expect(slots[0].cost == DerivationCost(operations: 2, memory: 64 << 20))
        }

        @Test func aWrongPassphraseChangesNothing() throws {
            try scratch.driver(key: passphrase("right")).add("bob", "x")
            try FileManager.default.removeItem(atPath: "\(scratch.folder)/.a.keychain.lock")
            let before = try scratch.bytes()
            var (old, new) = (stat(), stat())
            #expect(stat(scratch.path, &old) == 0)
            let wrong: [KeyMaterial] = [
                passphrase("wrong"), passphrase(""), passphrase("right "), .key(SecureBytes(Scratch.rawKey)),
            ]
            for key in wrong {
                let driver = try scratch.driver(key: key)
                #expect(code { () throws(KeychainError) in _ = try driver.all() } == .authenticationFailed)
                #expect(code { () throws(KeychainError) in try driver.add("x", "x") } == .authenticationFailed)
            }
            #expect(stat(scratch.path, &new) == 0)
            #expect(try scratch.bytes() == before)
            #expect(old.st_mtim.tv_sec == new.st_mtim.tv_sec && old.st_mtim.tv_nsec == new.st_mtim.tv_nsec)
            #expect(old.st_ctim.tv_sec == new.st_ctim.tv_sec && old.st_ctim.tv_nsec == new.st_ctim.tv_nsec)
            #expect(try scratch.names() == ["a.keychain"])
        }

        @Test func aWrongRawKeyIsToldFromOneOfTheWrongLength() throws {
            try scratch.driver().add("bob", "x")
            let wrong = try scratch.driver(key: .key(SecureBytes(Data(repeating: 9, count: 32))))
            #expect(code { () throws(KeychainError) in _ = try wrong.all() } == .authenticationFailed)
            let short = try scratch.driver(key: .key(SecureBytes(Data(repeating: 9, count: 31))))
            #expect(code { () throws(KeychainError) in _ = try short.all() } == .invalidParameter)
            let phrase = try scratch.driver(key: passphrase("x"))
            #expect(code { () throws(KeychainError) in _ = try phrase.all() } == .authenticationFailed)
        }

        @Test func theKeySourceComesFromTheEnvironmentIfNoneIsGiven() throws {
            try scratch.driver().add("bob", "x")
            let named = try FileDriver(
                path: scratch.path,
                environment: ["KEYCHAIN_KEY": "keyfile:\(scratch.keyFile)"]
            )
            #expect(try named.contents() == ["bob": Data("x".utf8)])
            let none = try FileDriver(path: scratch.path, environment: [:])
            #expect(code { () throws(KeychainError) in _ = try none.all() } == .interactionNotAllowed)
        }

        @Test func aPersonIsAskedOnceAndTwoWaysOfNotBeingAllowedAreRespected() throws {
            let prompt = CountingPrompt("secret")
            let driver = try FileDriver(
                path: scratch.path,
                options: StoreOptions(prompt: prompt, creation: .ifMissing),
                environment: [:],
                cost: .minimal
            )
            #expect(try driver.all() == [])
            #expect(prompt.asked == [])
            try driver.add("bob", "x")
            try driver.add("carol", "x")
            #expect(prompt.asked == [true])
            let second = try FileDriver(
                path: scratch.path,
                options: StoreOptions(prompt: prompt),
                environment: [:],
                cost: .minimal
            )
            let silent = CallContext(.info, interaction: .never)
            let code = code { () throws(KeychainError) in
                try second.read(silent) { (_) throws(KeychainError) in }
            }
            #expect(code == .interactionNotAllowed)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in _ = try? second.all() }
            #expect(try second.all().count == 2)
            #expect(prompt.asked == [true, false])
        }

        // Refusals.

        @Test func whatIsNoKeychainFileEachHasASentenceOfItsOwnAndStays() throws {
            try scratch.driver().add("bob", "x")
            let whole = try scratch.bytes()
            var newer = whole
            let second = FileLayout.headerCopies[1]
            newer[second + 8] = 2
            let checksum = second + FileLayout.headerChecksumStart
            newer.replaceSubrange(checksum..<checksum + 32, with: Sodium.hash([UInt8](newer[second..<checksum])))
            let cases: [(Data, KeychainError.Code, String)] = [
                (Data(), .corrupt, "is empty"),
                (Data("hello, world\n".utf8), .corrupt, "is not a keychain file"),
                (Data(repeating: 0, count: 100_000), .corrupt, "is not a keychain file"),
                (whole.prefix(5), .corrupt, "neither copy of its head"),
                (whole.prefix(12_000), .corrupt, "cut off within its head"),
                (whole.dropLast(1), .corrupt, "it was cut off, at byte"),
                (newer, .unsupported, "format version 2"),
            ]
            for (bytes, expected, sentence) in cases {
                try scratch.put(bytes)
                let driver = try scratch.driver()
                for write in [false, true] {
                    do throws(KeychainError) {
                        if write { try driver.add("x", "x") } else { _ = try driver.all() }
                        Issue.record("\(sentence): nothing was thrown")
                    } catch {
                        #expect(error.code == expected)
                        #expect(error.message.contains(sentence), "\(error.message)")
                    }
                }
                #expect(try scratch.bytes() == bytes)
            }
        }

        @Test(arguments: [0o640, 0o604, 0o660, 0o610, 0o601])
        func aFileThatOthersMayTouchIsRefused(mode: Int) throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            #expect(chmod(scratch.path, mode_t(mode)) == 0)
            for driver in [driver, try scratch.driver()] {
                do throws(KeychainError) {
                    _ = try driver.all()
                    Issue.record("Nothing was thrown")
                } catch {
                    #expect(error.code == .insecurePermissions)
                    #expect(error.message.contains("chmod 600 '\(scratch.path)'"))
                }
            }
            let options = StoreOptions(keySource: .material(.key(SecureBytes(Scratch.rawKey))), permissions: .any)
            #expect(try FileDriver(path: scratch.path, options: options, environment: [:]).all().count == 1)
            #expect(chmod(scratch.path, 0o600) == 0)
            #expect(try driver.all().count == 1)
        }

        @Test func whatIsNoFileIsRefusedWithoutWaiting() throws {
            #expect(mkfifo(scratch.path, 0o600) == 0)
            let pipe = try scratch.driver()
            #expect(code { () throws(KeychainError) in _ = try pipe.all() } == .unavailable)
            let folder = try scratch.driver(scratch.folder)
            #expect(code { () throws(KeychainError) in _ = try folder.all() } == .unavailable)
            let probe = DriverRegistration.file(environment: [:]).probe
            for place in [scratch.path, scratch.folder] {
                guard case .unavailable = probe(StoreURL(driver: .file, path: place)) else {
                    Issue.record("It passes for a keychain file")
                    continue
                }
            }
            for path in ["\(scratch.folder)/", "/", "a\u{0}b"] {
                #expect(
                    code { () throws(KeychainError) in
                        _ = try FileDriver(path: path, environment: [:])
                    } == .invalidParameter
                )
            }
        }

        @Test func aPathThatLeadsThroughAFileIsNotAnEmptyStore() throws {
            let driver = try scratch.driver("\(scratch.keyFile)/a.keychain")
            #expect(code { () throws(KeychainError) in _ = try driver.all() } == .unavailable)
            #expect(code { () throws(KeychainError) in try driver.add("bob", "x") } == .unavailable)
        }

        // Paths.

        @Test func twoPathsOfOneFileHaveOneLocationAndOneLock() throws {
            let manager = FileManager.default
            try manager.createDirectory(atPath: "\(scratch.folder)/real", withIntermediateDirectories: false)
            try manager.createSymbolicLink(atPath: "\(scratch.folder)/link", withDestinationPath: "real")
            try manager.createSymbolicLink(
                atPath: "\(scratch.folder)/dangling",
                withDestinationPath: "\(scratch.folder)/link/./a.keychain"
            )
            let direct = try scratch.driver("\(scratch.folder)/real/a.keychain")
            let linked = try scratch.driver("\(scratch.folder)/link/../link//a.keychain")
            let dangling = try scratch.driver("\(scratch.folder)/dangling")
            #expect(linked.location == direct.location)
            #expect(dangling.location == direct.location)
            try dangling.add("bob", "x")
            try linked.add("carol", "x")
            #expect(try direct.all().count == 2)
            #expect(
                try manager.contentsOfDirectory(atPath: "\(scratch.folder)/real").sorted() == [
                    ".a.keychain.lock", "a.keychain",
                ]
            )
            try manager.createSymbolicLink(atPath: "\(scratch.folder)/loop", withDestinationPath: "loop")
            #expect(
                code { () throws(KeychainError) in
                    _ = try FileDriver(path: "\(scratch.folder)/loop", environment: [:])
                } == .invalidParameter
            )
        }

        @Test func aNameThatBeginsWithACombiningMarkIsAName() throws {
            let folder = "\(scratch.folder)/\u{301}folder"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let link = "\(scratch.folder)/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
            let place = try FilePlace("\(link)/\u{301}store", environment: [:])
            #expect(Array(place.path.utf8) == Array("\(folder)/\u{301}store".utf8))
            #expect(Array(place.folder.utf8) == Array(folder.utf8))
            #expect(Array(place.sibling("x").utf8) == Array("\(folder)/x".utf8))
        }

        @Test func relativePathsAndTheDefaultPathBecomeAbsolute() throws {
            let working = FileManager.default.currentDirectoryPath
            let relative = try FileDriver(path: "x/../some.keychain", environment: [:])
            #expect(relative.location == "file:\(working)/some.keychain")
            let tilde = try FileDriver(path: "~/some.keychain", environment: ["HOME": "/nowhere"])
            #expect(tilde.location == "file:\(working)/~/some.keychain")
            let standard = try FileDriver(path: "", environment: ["XDG_DATA_HOME": "/nowhere/data"])
            #expect(standard.location == "file:/nowhere/data/swift-keychain/default.keychain")
        }

        @Test func everyDescriptorClosesOnExec() throws {
            let driver = try scratch.driver()
            try driver.add("bob", "x")
            let observation = try driver.observeChanges {}
            defer { observation.cancel() }
            var seen = 0
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                guard let number = Int32(name),
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
                    target.hasPrefix(scratch.folder) || target.contains("inotify")
                else { continue }
                seen += 1
                #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
            }
            #expect(seen >= 2)
        }
    }

    /// Gives one passphrase and remembers how often, and for what, it was asked for.
    final class CountingPrompt: PassphrasePrompt {
        private let text: String
        private let calls = Mutex<[Bool]>([])

        init(_ text: String) {
            self.text = text
        }

        /// For each time whether a new passphrase was asked for.
        var asked: [Bool] { calls.withLock { $0 } }

        func passphrase(for location: String, isNew: Bool) throws(KeychainError) -> SecureBytes {
            calls.withLock { $0.append(isNew) }
            return SecureBytes(Data(text.utf8))
        }
    }
#endif
