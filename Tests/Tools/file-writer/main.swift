// SPDX-License-Identifier: MIT
//
// Usage: FileWriterTool VERB PATH KEY [ARGUMENTS]
//
// KEY is the path of a key file, or a key source with a colon.
//
//   store PREFIX COUNT   stores COUNT items, one commit each; prints each account once its commit has returned
//   churn PREFIX COUNT   stores and replaces COUNT times over ten accounts, so that the file is rewritten in between
//   add ACCOUNT          stores one item if there is none; prints "added" or "duplicate"
//   list                 prints the account of each item
//   get ACCOUNT          prints the value
//   hold ACCOUNT         lists, reads the value and lets go of it, prints "ready" and waits for its input to end
//   keep ACCOUNT         the same, but keeps the value until its input ends
//   compact              rewrites the file
//   mix PREFIX SEED      does one thing after the other, by chance, until it is killed: adds, replaces, removes,
//                        rewrites, changes key slots, rotates; prints "try …" before each and "did …" after it
//   fork                 forks with the file open, and lets both processes write; prints what the parent sees then
//   fork-locked          forks while it writes; the child, which has all descriptors, waits for its input to end
//
// A failure prints the error's code and message on stderr and ends with status 1.

import Foundation
import KeychainAPI

/// Writes a line at once: a process that is killed must not keep what it had acknowledged.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func complain(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

#if File
    import BackendFile

    signal(SIGXFSZ, SIG_IGN)

    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3 else {
        complain("usage: FileWriterTool VERB PATH KEYFILE [ARGUMENTS]")
        exit(2)
    }

    func record(_ account: String, reference: UUID = UUID(), created: Date = Date()) -> ItemRecord {
        var attributes = AttributeSet()
        attributes[.service] = .text("svc")
        attributes[.account] = .text(account)
        return ItemRecord(
            reference: reference,
            itemClass: .genericPassword,
            accessGroup: "",
            isSynchronizable: false,
            attributes: attributes,
            creationDate: ItemDate(created),
            modificationDate: ItemDate(Date())
        )
    }

    extension FileDriver {
        /// Stores an item, in the place of the one with its key if there is one.
        func put(_ account: String, _ value: Data) throws(KeychainError) {
            try write(CallContext(.store)) { (writer) throws(KeychainError) in
                let old = try writer.records(RecordSelection(record(account).primaryKey)).first
                let new = record(
                    account,
                    reference: old?.reference ?? UUID(),
                    created: old?.creationDate.date ?? Date()
                )
                let value = SecureBytes(value)
                try writer.commit([old.map { .update(old: $0, new: new, value: value) } ?? .insert(new, value)])
            }
        }
    }

    func run(_ driver: FileDriver) throws(KeychainError) {
        switch arguments[0] {
        case "store":
            for number in 0..<(Int(arguments[4]) ?? 0) {
                let account = "\(arguments[3])-\(number)"
                try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                    try writer.commit([.insert(record(account), SecureBytes(Data("value of \(account)".utf8)))])
                }
                say(account)
            }
        case "churn":
            for number in 0..<(Int(arguments[4]) ?? 0) {
                let account = "\(arguments[3])-\(number % 10)"
                let value = Data("\(number) ".utf8) + Data(repeating: 0x2E, count: 2000)
                try driver.put(account, value)
                say("\(account) \(number)")
            }
        case "add":
            try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                let new = record(arguments[3])
                guard try writer.records(RecordSelection(new.primaryKey)).isEmpty else { return say("duplicate") }
                try writer.commit([.insert(new, SecureBytes(Data("value of \(arguments[3])".utf8)))])
                say("added")
            }
        case "list":
            for record in try driver.read(
                CallContext(.info),
                { (reader) throws(KeychainError) in
                    try reader.records(RecordSelection())
                }
            ) {
                if case .text(let account)? = record.attributes[.account] { say(account) }
            }
        case "get":
            let value = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                try reader.records(RecordSelection(record(arguments[3]).primaryKey)).first.map {
                    (record) throws(KeychainError) in try reader.value(of: record)
                }
            }
            say(value.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } } ?? "")
        case "hold", "keep":
            var value = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                _ = try reader.records(RecordSelection())
                return try reader.records(RecordSelection(record(arguments[3]).primaryKey)).first.map {
                    (record) throws(KeychainError) in try reader.value(of: record)
                }
            }
            let count = value?.count ?? -1
            if arguments[0] == "hold" { value = nil }
            say("ready \(count)")
            withExtendedLifetime((driver, value)) { while readLine() != nil {} }
        case "compact":
            try driver.compact(CallContext(.store))
        case "mix":
            var mixer = Mixer(driver, prefix: arguments[3], seed: UInt64(arguments[4]) ?? 0, key: arguments[2])
            try mixer.run()
        case "fork":
            try forkAndWrite(driver)
        case "fork-locked":
            try forkWhileWriting(driver)
        default:
            complain("unknown verb")
            exit(2)
        }
    }

    do throws(KeychainError) {
        let source = arguments[2].contains(":") ? try KeySource(parsing: arguments[2]) : .keyFile(arguments[2])
        let options = StoreOptions(keySource: source, creation: .ifMissing)
        try run(try FileDriver(path: arguments[1], options: options))
    } catch {
        complain("\(error)")
        exit(1)
    }
#else
    complain("built without the file driver")
    exit(2)
#endif
