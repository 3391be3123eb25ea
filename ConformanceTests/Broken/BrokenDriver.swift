// SPDX-License-Identifier: MIT

import BackendMemory
import Foundation
import KeychainAPI
import Synchronization

/// A memory driver with one flaw, or none: proves that the suite notices it.
final class BrokenDriver: KeychainDriver {
    let base: MemoryDriver
    let flaw: Flaw?
    private let place: String
    private let observers = Mutex<[UUID: @Sendable () -> Void]>([:])
    private let turns = NSLock()

    init(over base: MemoryDriver, _ flaw: Flaw?, location: String? = nil) {
        self.base = base
        self.flaw = flaw
        place = location ?? base.location
    }

    var identifier: DriverIdentifier { base.identifier }
    var location: String { flaw == .movesAround ? "\(place)-\(UUID().uuidString)" : place }
    var capabilities: DriverCapabilities { base.capabilities }
    var maximumValueSize: Int { base.maximumValueSize }
    var stamps: StampSource { base.stamps }

    func read<Result>(
        _ call: CallContext,
        _ body: (any RecordReader) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if flaw == .makesReadersWait { turns.lock() }
        defer { if flaw == .makesReadersWait { turns.unlock() } }
        var ran = false
        do throws(KeychainError) {
            return try base.read(patient(call)) { (reader) throws(KeychainError) in
                ran = true
                return try body(BrokenReader(base: reader, flaw: flaw))
            }
        } catch .interactionNotAllowed where !ran && flaw == .answersEmptyWhenLocked {
            return try MemoryDriver().read(call, body)
        } catch .interactionNotAllowed where !ran && flaw == .saysNotFoundWhenLocked {
            throw .itemNotFound
        }
    }

    func write<Result>(
        _ call: CallContext,
        _ body: (any RecordWriter) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        if flaw == .makesReadersWait { turns.lock() }
        defer { if flaw == .makesReadersWait { turns.unlock() } }
        if flaw == .doesNotExclude {
            return try base.read(call) { (reader) throws(KeychainError) in
                try body(LateWriter(reader: reader, driver: self))
            }
        }
        return try base.write(patient(call)) { (writer) throws(KeychainError) in
            let broken = BrokenWriter(base: writer, driver: self)
            if flaw == .runsTwice { _ = try body(broken) }
            return try body(broken)
        }
    }

    private func patient(_ call: CallContext) -> CallContext {
        flaw == .ignoresDeadlines ? CallContext(call.operation, interaction: call.interaction) : call
    }

    func observeChanges(_ onChange: @escaping @Sendable () -> Void) throws(KeychainError) -> ChangeObservation {
        switch flaw {
        case .tellsNoChanges: return ChangeObservation {}
        case .tellsOwnChangesOnly:
            let key = UUID()
            observers.withLock { $0[key] = onChange }
            return ChangeObservation { [weak self] in
                self?.observers.withLock { _ = $0.removeValue(forKey: key) }
            }
        default: return try base.observeChanges(onChange)
        }
    }

    fileprivate func tell() {
        for observer in observers.withLock({ Array($0.values) }) { observer() }
    }
}

/// Reads with the flaw.
struct BrokenReader: RecordReader {
    let base: any RecordReader
    let flaw: Flaw?

    func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] {
        var asked = selection
        switch flaw {
        case .forgetsKeys where selection.isFullIdentity: return []
        case .cannotFindReferences where selection.reference != nil: return []
        case .leaksGroups: asked.accessGroup = nil
        default: break
        }
        return try base.records(asked).map { record in
            var record = record
            if flaw == .leaksGroups { record.accessGroup = selection.accessGroup ?? record.accessGroup }
            if flaw == .datesAnewEachTime {
                record.creationDate = ItemDate(microseconds: .random(in: 0...1_000_000_000_000))
            }
            return record
        }
    }

    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try base.value(of: record) }

    func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] {
        let values = try base.values(of: records)
        return flaw == .mixesUpValues ? values.reversed() : values
    }
}

/// Writes with the flaw.
struct BrokenWriter: RecordWriter {
    let base: any RecordWriter
    let driver: BrokenDriver

    private var reader: BrokenReader { BrokenReader(base: base, flaw: driver.flaw) }

    func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] { try reader.records(selection) }

    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try reader.value(of: record) }

    func values(of records: [ItemRecord]) throws(KeychainError) -> [SecureBytes?] { try reader.values(of: records) }

    func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
        var broken: [RecordMutation] = []
        for mutation in mutations { broken += try damage(mutation) }
        switch driver.flaw {
        case .commitsHalf: broken = Array(broken.prefix(1))
        case .commitsOneByOne:
            for mutation in broken {
                try base.commit([mutation])
                // Long enough for a reader to come by.
                usleep(500)
            }
            return
        default: break
        }
        if !broken.isEmpty { try base.commit(broken) }
        driver.tell()
    }

    private func damage(_ mutation: RecordMutation) throws(KeychainError) -> [RecordMutation] {
        switch mutation {
        case .insert(let record, let value):
            if driver.flaw == .losesEmptyItems, value.isEmpty { return [] }
            return [.insert(damage(record), try damage(value))]
        case .update(let old, let new, let value):
            var new = damage(new)
            switch driver.flaw {
            case .losesUpdates: return []
            case .datesGoBack:
                new.modificationDate = ItemDate(microseconds: old.modificationDate.microseconds - 2_000_000)
            case .createsAnewOnUpdate:
                new.creationDate = ItemDate(microseconds: new.modificationDate.microseconds + 1)
            case .renamesOnUpdate:
                let kept: SecureBytes
                if let value { kept = value } else { kept = try base.value(of: old) }
                return [.delete(old), .insert(renamed(new), kept)]
            default: break
            }
            return [
                .update(old: old, new: new, value: try value.map { (value) throws(KeychainError) in try damage(value) })
            ]
        case .delete: return [mutation]
        }
    }

    private func renamed(_ record: ItemRecord) -> ItemRecord {
        var record = record
        record.reference = UUID()
        return record
    }

    private func damage(_ record: ItemRecord) -> ItemRecord {
        var record = record
        switch driver.flaw {
        case .dropsTheMark: record.isSynchronizable = false
        case .losesAnAttribute: record.attributes[.comment] = nil
        case .inventsAnAttribute: record.attributes[.label] = record.attributes[.label] ?? .text("Password")
        case .losesThePolicy:
            record.attributes[.accessible] = nil
            record.attributes[.accessControl] = nil
        case .losesTheHash: record.attributes[.publicKeyHash] = nil
        case .datesAtRandom: record.creationDate = ItemDate(microseconds: .random(in: 0...1_000_000_000_000))
        case .foldsCase: change(&record) { $0.lowercased() }
        case .composesText: change(&record) { $0.precomposedStringWithCanonicalMapping }
        case .trimsText: change(&record) { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        default: break
        }
        return record
    }

    private func change(_ record: inout ItemRecord, _ transform: (String) -> String) {
        for attribute in record.attributes {
            if case .text(let text) = attribute.value { record.attributes[attribute.name] = .text(transform(text)) }
        }
    }

    private func damage(_ value: SecureBytes) throws(KeychainError) -> SecureBytes {
        let data = value.rawRepresentation
        switch driver.flaw {
        case .cutsAtNUL: return SecureBytes(data.prefix { $0 != 0 })
        case .trimsValues:
            guard let text = String(data: data, encoding: .utf8) else { return value }
            return SecureBytes(Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
        case .replacesInvalidText: return SecureBytes(Data(String(decoding: data, as: UTF8.self).utf8))
        case .cutsLargeValues: return SecureBytes(data.prefix(1 << 16))
        case .refusesItsOwnLimit where data.count > 32 << 20: throw KeychainError(.io, "Writing failed.")
        case .quotesTheValue where data.contains(0):
            throw KeychainError(.io, "Writing ‘\(String(decoding: data, as: UTF8.self))’ failed.")
        default: return value
        }
    }
}

/// Looks without the lock and takes it only to commit: another writer may come in between.
private struct LateWriter: RecordWriter {
    let reader: any RecordReader
    let driver: BrokenDriver

    func records(_ selection: RecordSelection) throws(KeychainError) -> [ItemRecord] { try reader.records(selection) }

    func value(of record: ItemRecord) throws(KeychainError) -> SecureBytes { try reader.value(of: record) }

    func commit(_ mutations: [RecordMutation]) throws(KeychainError) {
        // Long enough for another writer to come in between.
        usleep(1_000)
        try driver.base.write(CallContext(.store)) { (writer) throws(KeychainError) in try writer.commit(mutations) }
    }
}
