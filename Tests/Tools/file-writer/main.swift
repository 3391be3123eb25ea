// SPDX-License-Identifier: MIT
//
// Usage: FileWriterTool VERB PATH KEYFILE [ARGUMENTS]
//
//   store PREFIX COUNT   stores COUNT items, one commit each; prints each account once its commit has returned
//   churn PREFIX COUNT   stores and replaces COUNT times over ten accounts, so that the file is rewritten in between
//   add ACCOUNT          stores one item if there is none; prints "added" or "duplicate"
//   list                 prints the account of each item
//   get ACCOUNT          prints the value
//   hold ACCOUNT         lists, reads the value and lets go of it, prints "ready" and waits for its input to end
//   compact              rewrites the file
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
                let value = SecureBytes(Data("\(number) ".utf8) + Data(repeating: 0x2E, count: 2000))
                try driver.write(CallContext(.store)) { (writer) throws(KeychainError) in
                    if let old = try writer.records(RecordSelection(record(account).primaryKey)).first {
                        let new = record(account, reference: old.reference, created: old.creationDate.date)
                        try writer.commit([.update(old: old, new: new, value: value)])
                    } else {
                        try writer.commit([.insert(record(account), value)])
                    }
                }
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
        case "hold":
            let count = try driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
                _ = try reader.records(RecordSelection())
                return try reader.records(RecordSelection(record(arguments[3]).primaryKey)).first.map {
                    (record) throws(KeychainError) in try reader.value(of: record).count
                }
            }
            say("ready \(count ?? -1)")
            withExtendedLifetime(driver) { while readLine() != nil {} }
        case "compact":
            try driver.compact(CallContext(.store))
        default:
            complain("unknown verb")
            exit(2)
        }
    }

    do throws(KeychainError) {
        let options = StoreOptions(keySource: .keyFile(arguments[2]), creation: .ifMissing)
        try run(try FileDriver(path: arguments[1], options: options))
    } catch {
        complain("\(error)")
        exit(1)
    }
#else
    complain("built without the file driver")
    exit(2)
#endif
