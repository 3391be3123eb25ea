// expect: 'persistentReference' is a get-only property
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func change(_ info: inout SecItemInfo<GenericPassword>, _ other: SecItemInfo<GenericPassword>) {
    info.persistentReference = other.persistentReference
}
