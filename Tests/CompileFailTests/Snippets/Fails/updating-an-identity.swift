// expect: type 'SecIdentity' does not conform to protocol 'SecStorable'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

let changes = SecItemUpdate<SecIdentity>()
