// SPDX-License-Identifier: MIT

import KeychainAPI
import SwiftKeychain

/// A store that a command has opened, with the time that is left for it.
struct OpenStore: Sendable {
    let driver: any KeychainDriver
    let settings: Settings
    /// Asks for the password of items that are encrypted with one of their own, once for the whole command.
    let applicationPassword: (any ApplicationPassword)?

    /// The store for one call: the deadline is the command's, however many calls it makes.
    var keychain: Keychain {
        Keychain(
            driver: driver,
            applicationIdentifier: "keychainctl",
            accessGroup: settings.group,
            timeout: settings.remaining,
            interaction: settings.interaction,
            applicationPassword: applicationPassword
        )
    }
}

extension OpenStore {
    /// Whether the store ends with the process.
    var isInMemory: Bool {
        get throws(KeychainError) {
            let chosen = try (driver as? DefaultDriver)?.chosenDriver ?? driver
            return chosen.identifier == .memory
        }
    }

    /// Finds the class of a selector that has none: the one in which its reference is found.
    ///
    /// - Throws: `itemNotFound` if the reference is in no class.
    func itemType(of selector: Selector) async throws(KeychainError) -> any SecItem.Type {
        if let itemClass = selector.itemClass { return itemClass.itemType }
        for itemClass in selector.classes {
            if try await !details(of: selector, as: itemClass.itemType, limit: 1).isEmpty { return itemClass.itemType }
        }
        throw .itemNotFound
    }

    /// The attributes of what a selector matches, the oldest first; no value is decrypted.
    ///
    /// Not by `info`, which never asks for anything: a person who lists a locked store wants to be asked.
    ///
    /// - Parameters:
    ///   - selector: The items.
    ///   - type: Their class.
    ///   - limit: How many are wanted at most.
    func details<Item: SecItem>(
        of selector: Selector,
        as type: Item.Type,
        limit: Int? = nil
    ) async throws(KeychainError) -> [ItemDetails] {
        let query = selector.query(of: type)
        if limit == 1 {
            let value = try await keychain.retrieve([.info, .persistentReference], query: query)
            return [value].compactMap { $0?.details }
        }
        return try await keychain.retrieveAll([.info, .persistentReference], query: query).compactMap(\.details)
    }
}
