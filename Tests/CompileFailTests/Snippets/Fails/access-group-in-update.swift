// expect: has no dynamic member 'accessGroup'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var changes = SecItemUpdate<GenericPassword>()
changes.accessGroup = .default
