// expect: requires that 'SecIdentity' conform to 'SecData'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<SecIdentity>()
query.comment = "x"
