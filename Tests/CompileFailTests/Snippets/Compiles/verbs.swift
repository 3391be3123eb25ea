// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func everything(_ keychain: Keychain, _ other: Keychain) throws(KeychainError) {
    try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
    let token: String? = try keychain.retrieve(.credential(for: "OpenAI"))
    var changes = SecItemUpdate<GenericPassword>()
    changes.comment = nil
    changes.setValue(token ?? "")
    try keychain.update(.credential(for: "OpenAI"), changes)
    let info = try keychain.info(for: SecItemQuery<GenericPassword>.credential(for: "OpenAI"))
    if let info { try keychain.copy(.item(info.persistentReference), to: other) }
    try keychain.remove(.credential(for: "OpenAI"))
}
