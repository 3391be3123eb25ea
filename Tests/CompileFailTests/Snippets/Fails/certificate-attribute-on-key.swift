// expect: requires that 'SecKey' conform to 'SecCertificateAttributed'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<SecKey>()
query.issuer = Data()
