// expect: has no dynamic member 'creationDate'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<GenericPassword>()
query.creationDate = Date()
