// expect: cannot convert value of type 'PersistentReference<InternetPassword>'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func find(_ reference: PersistentReference<InternetPassword>) -> SecItemQuery<GenericPassword> { .item(reference) }
