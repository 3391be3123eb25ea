// expect: requires that 'SecKey' conform to 'SecData'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<SecKey>()
query.account = "bob"
