// expect: requires that 'SecIdentity' conform to 'SecStorable'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func value(_ keychain: Keychain, _ query: SecItemQuery<SecIdentity>) throws -> Data? { try keychain.retrieve(query) }
