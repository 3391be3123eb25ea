// expect: requires the types 'GenericPassword' and 'InternetPassword' be equivalent
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<GenericPassword>()
query.port = 443
