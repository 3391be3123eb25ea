// expect: cannot assign value of type 'String' to
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<InternetPassword>()
query.protocol = "https"
