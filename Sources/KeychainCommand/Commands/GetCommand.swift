// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension CommandRun {
    /// `get`: prints a value.
    func get() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        let selector = try Selector(parsed)
        let store = try open(settings, creation: .never)
        let type = try await store.itemType(of: selector)
        if wantsJSON {
            guard let details = try await valueAndDetails(selector, as: type, store) else { return .notFound }
            let line = try JSONLine.item(details)
            try write(SecureBytes(Data(line.utf8)), addingNewline: false)
            return .done
        }
        guard let value = try await value(selector, as: type, store) else { return .notFound }
        try write(value, addingNewline: io.outputIsTerminal)
        return .done
    }

    /// The value of the oldest match, nil if there is none.
    func value<Item: SecItem>(
        _ selector: Selector,
        as type: Item.Type,
        _ store: OpenStore
    ) async throws(KeychainError) -> SecureBytes? {
        if let type = Item.itemClass.storableType { return try await storedValue(selector, as: type, store) }
        guard case .data(let data)? = try await store.keychain.retrieve(.data, query: selector.query(of: type)) else {
            return nil
        }
        return SecureBytes(data)
    }

    private func storedValue<Item: SecStorable>(
        _ selector: Selector,
        as type: Item.Type,
        _ store: OpenStore
    ) async throws(KeychainError) -> SecureBytes? {
        try await store.keychain.retrieve(selector.query(of: type))
    }

    private func valueAndDetails<Item: SecItem>(
        _ selector: Selector,
        as type: Item.Type,
        _ store: OpenStore
    ) async throws(KeychainError) -> ItemDetails? {
        try await store.keychain.retrieve([.data, .info], query: selector.query(of: type))?.details
    }

    private func write(_ value: SecureBytes, addingNewline: Bool) throws(KeychainError) {
        if let path = parsed.value("output"), path != "-" {
            return try value.withBytes { (bytes) throws(KeychainError) in try FileOutput.replace(path, with: bytes) }
        }
        try value.withBytes { (bytes) throws(KeychainError) in try io.write(bytes) }
        if addingNewline { try io.print("\n") }
    }
}
