// expect: requires that 'GenericPassword' conform to 'SecKeyAttributed'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<GenericPassword>()
query.keySizeInBits = 256
