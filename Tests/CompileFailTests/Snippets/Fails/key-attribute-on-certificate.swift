// expect: requires that 'SecCertificate' conform to 'SecKeyAttributed'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<SecCertificate>()
query.keyClass = .private
