// expect: thrown expression type 'KeychainError' cannot be converted to error type 'CancellationError'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func remove(_ keychain: Keychain) throws(CancellationError) { try keychain.remove(.credential(for: "x")) }
