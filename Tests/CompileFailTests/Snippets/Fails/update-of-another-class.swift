// expect: cannot convert value of type 'SecItemUpdate<InternetPassword>' to expected argument type 'SecItemUpdate<GenericPassword>'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func update(_ keychain: Keychain, _ changes: SecItemUpdate<InternetPassword>) throws {
    let query = SecItemQuery<GenericPassword>.credential(for: "x")
    try keychain.update(query, changes)
}
