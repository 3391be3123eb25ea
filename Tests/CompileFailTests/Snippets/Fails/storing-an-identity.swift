// expect: requires that 'SecIdentity' conform to 'SecStorable'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func store(_ keychain: Keychain, _ query: SecItemQuery<SecIdentity>) throws { try keychain.store("x", query: query) }
