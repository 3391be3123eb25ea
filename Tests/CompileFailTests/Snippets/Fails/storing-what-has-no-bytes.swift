// expect: requires that 'Calendar' conform to 'SecDataConvertible'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func store(_ keychain: Keychain) throws { try keychain.store(Calendar.current, query: .credential(for: "x")) }
