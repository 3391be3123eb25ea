// expect: cannot assign value of type 'PersistentReference<SecKey>'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func find(_ reference: PersistentReference<SecKey>) {
    var query = SecItemQuery<SecCertificate>()
    query.persistentReference = reference
}
