// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import SwiftKeychain

extension CommandRun {
    /// `key generate`: makes a key file.
    func generateKey() throws(KeychainError) -> ExitCode {
        let path = parsed.operands[0]
        guard !path.isEmpty, path != "-" else {
            throw KeychainError(.invalidParameter, "‘key generate’ takes the path of a new file.")
        }
        var generator = try SecureRandomDataGenerator(count: 32)
        let key = SecureBytes(try generator.next())
        try key.withBytes { (bytes) throws(KeychainError) in try FileOutput.create(path, with: bytes) }
        return .done
    }
}

#if File
    extension CommandRun {
        /// `key list`: lists the key slots.
        func listKeys(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let (slots, failure) = try await file.call(.info) { (driver, call) throws(KeychainError) in
                try Self.slots(of: driver, file.keySource, call)
            }
            let rows = slots.map { slot in
                [
                    "\(slot.number)", slot.kind.rawValue, slot.source?.text ?? "", slot.cost,
                    slot.opens == true ? "*" : "",
                ]
            }
            let objects = slots.map { slot in
                var object: [String: JSONValue] = [
                    "slot": .number(Int64(slot.number)), "kind": .text(slot.kind.rawValue),
                ]
                object["source"] = (slot.source?.text).map { .text($0) }
                object["opens"] = slot.opens.map { .flag($0) }
                if slot.kind == .passphrase {
                    object["memory"] = .number(Int64(slot.memory))
                    object["passes"] = .number(Int64(slot.passes))
                }
                return object
            }
            try printRows(["SLOT", "KIND", "SOURCE", "COST", "OPENS"], rows, objects)
            if let failure { throw failure }
            if !slots.contains(where: { $0.opens != false }) { note("the given key opens none of them") }
            return .done
        }

        /// The slots, and why it is not known which of them the given key opens: what there is can be listed all the same.
        private static func slots(
            of driver: FileDriver,
            _ source: KeySource?,
            _ call: CallContext
        ) throws(KeychainError) -> ([FileKeySlot], KeychainError?) {
            guard let source else { return (try driver.keySlots(), nil) }
            do throws(KeychainError) {
                return (try driver.keySlots(openedBy: source, call), nil)
            } catch {
                return (try driver.keySlots(), error)
            }
        }

        /// `key add`: adds a key slot.
        func addKey(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let source = try sources(parsed.operands, file)[0]
            let slot = try await file.call(.update) { (driver, call) throws(KeychainError) in
                try driver.addKey(source, call)
            }
            note("added key slot \(slot.number)")
            try printJSON(["slot": .number(Int64(slot.number))])
            return .done
        }

        /// `key change`: changes a key slot.
        func changeKey(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let number = try slotNumber
            let source = try sources([parsed.operands[1]], file)[0]
            _ = try await file.call(.update) { (driver, call) throws(KeychainError) in
                try driver.changeKey(number, to: source, call)
            }
            note("changed key slot \(number)")
            try printJSON(["slot": .number(Int64(number))])
            return .done
        }

        /// `key remove`: removes a key slot.
        func removeKey(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let number = try slotNumber
            try await file.call(.update) { (driver, call) throws(KeychainError) in try driver.removeKey(number, call) }
            note("removed key slot \(number)")
            try printJSON(["slot": .number(Int64(number))])
            return .done
        }

        /// `key rotate`: encrypts the file anew.
        func rotate(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let given = try sources(parsed.operands, file)
            let dropsOthers = parsed.has("drop-others")
            let count = try await file.call(.update) { (driver, call) throws(KeychainError) in
                guard let used = try driver.usedKey(call) else {
                    throw KeychainError(.internal, "The file was not unlocked. Nothing was changed.")
                }
                let sources = given.isEmpty ? [used.source] : given
                try driver.rotate(sources, call) { (slots) throws(KeychainError) in
                    let lost = slots.filter { slot in
                        if let source = slot.source, sources.contains(source) { return false }
                        return !(slot.number == used.slot && sources.contains(used.source))
                    }
                    guard dropsOthers || sources.count >= slots.count || lost.isEmpty else {
                        throw Self.refusal(of: lost)
                    }
                }
                return sources.count
            }
            note("encrypted anew, with \(count == 1 ? "one key slot" : "\(count) key slots")")
            try printJSON(["slots": .number(Int64(count))])
            return .done
        }

        private static func refusal(of lost: [FileKeySlot]) -> KeychainError {
            let names = lost.map { slot in
                "\(slot.number) (\([slot.kind.rawValue, slot.source?.text].compactMap { $0 }.joined(separator: ", ")))"
            }
            return KeychainError(
                .unsupported,
                "These key slots would be lost: \(names.joined(separator: ", ")). Nothing was changed. Give as many sources "
                    + "as there are slots, or --drop-others."
            )
        }

        private var slotNumber: Int {
            get throws(KeychainError) {
                guard let number = DecimalText.integer(parsed.operands[0]), (0..<256).contains(number) else {
                    throw KeychainError(
                        .invalidParameter,
                        "SLOT is the number of a key slot. Run ‘keychainctl key list’ to see them."
                    )
                }
                return Int(number)
            }
        }

        private func sources(_ texts: [String], _ file: OpenedFile) throws(KeychainError) -> [KeySource] {
            let sources = try texts.map { (text) throws(KeychainError) in try KeySource(parsing: text) }
            let numbers = ([file.settings.keySource].compactMap { $0 } + sources).compactMap { source -> Int32? in
                if case .fileDescriptor(let number) = source { number } else { nil }
            }
            // The second time it would be read as an empty passphrase.
            guard Set(numbers).count == numbers.count else {
                throw KeychainError(
                    .invalidParameter,
                    "A descriptor can be read only once. Use another one, as in fd:4."
                )
            }
            return sources
        }
    }

    extension FileKeySlot {
        /// What deriving a key takes, `""` for nothing.
        fileprivate var cost: String {
            guard kind == .passphrase else { return "" }
            let units: [(UInt64, String)] = [(1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes")]
            let (size, unit) = units.first { memory % $0.0 == 0 } ?? (1, "bytes")
            return "\(memory / size) \(unit), \(passes) \(passes == 1 ? "pass" : "passes")"
        }
    }
#endif
