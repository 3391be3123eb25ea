// expect: 'SecItemQuery<GenericPassword>'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<GenericPassword>()
query.matchSubdomains = true
