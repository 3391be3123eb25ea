// expect: requires that 'SecIdentity' conform to 'SecStorable'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func copy(_ keychain: Keychain, to other: Keychain, _ query: SecItemQuery<SecIdentity>) throws {
    try keychain.copy(query, to: other)
}
