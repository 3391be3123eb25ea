// expect: requires that 'Date' conform to 'SecDataConvertible'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func store(_ keychain: Keychain) throws { try keychain.store(Date(), query: .credential(for: "x")) }
