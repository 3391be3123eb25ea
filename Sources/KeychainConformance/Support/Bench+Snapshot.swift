// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// One item, as the driver has it.
struct SnapshotItem: Hashable {
    let reference: UUID
    let itemClass: ItemClass
    let isSynchronizable: Bool
    let attributes: AttributeSet
    let creationDate: ItemDate
    let modificationDate: ItemDate
    let value: Data?
}

/// Everything in a keychain's group, the values included, past policies and queries.
func snapshot(_ keychain: Keychain) throws -> [SnapshotItem] {
    try keychain.driver.read(CallContext(.retrieve)) { (reader) throws(KeychainError) in
        var items: [SnapshotItem] = []
        for itemClass in ItemClass.stored {
            let selection = RecordSelection(itemClass: itemClass, accessGroup: keychain.accessGroup.rawValue)
            let records = try reader.records(selection).filter(selection.matches).sorted { $0.isOrderedBefore($1) }
            let values = try reader.values(of: records)
            for (record, value) in zip(records, values) {
                items.append(
                    SnapshotItem(
                        reference: record.reference,
                        itemClass: itemClass,
                        isSynchronizable: record.isSynchronizable,
                        attributes: record.attributes,
                        creationDate: record.creationDate,
                        modificationDate: record.modificationDate,
                        value: value?.rawRepresentation
                    )
                )
            }
        }
        return items
    }
}

extension Bench {
    /// Fails unless a closure throws a code and leaves the keychain's group as it was, to the byte.
    func expectRefused(
        _ codes: KeychainError.Code...,
        from operation: KeychainOperation,
        _ expectation: String,
        in keychain: Keychain? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () throws -> Void
    ) throws {
        let keychain = keychain ?? self.keychain
        let before = try snapshot(keychain)
        var caught: (any Error)?
        do { try body() } catch { caught = error }
        guard let caught else {
            throw ConformanceFailure(
                "\(expectation): expected \(codes), nothing was thrown",
                fileID: fileID,
                line: line
            )
        }
        if let failure = caught as? ConformanceFailure { throw failure }
        guard let error = caught as? KeychainError, codes.contains(error.code) else {
            let got = (caught as? KeychainError)?.code.rawValue ?? "\(type(of: caught))"
            throw ConformanceFailure("\(expectation): expected \(codes), got \(got)", fileID: fileID, line: line)
        }
        try expect(
            error.driver != nil && error.location != nil && error.operation == operation,
            "\(expectation): the error names its driver, store and verb",
            fileID: fileID,
            line: line
        )
        try expect(try snapshot(keychain) == before, "\(expectation): nothing is changed", fileID: fileID, line: line)
    }

    /// The value of the first match as bytes.
    func value<Item: SecStorable>(_ query: SecItemQuery<Item>, in keychain: Keychain? = nil) throws -> Data? {
        try (keychain ?? self.keychain).retrieve(query)
    }

    /// How many items a query finds.
    func count<Item: SecItem>(_ query: SecItemQuery<Item>, in keychain: Keychain? = nil) throws -> Int {
        try (keychain ?? self.keychain).infoAll(for: query).count
    }
}
