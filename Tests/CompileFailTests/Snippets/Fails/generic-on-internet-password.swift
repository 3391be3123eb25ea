// expect: requires the types
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<InternetPassword>()
query.generic = Data([1])
