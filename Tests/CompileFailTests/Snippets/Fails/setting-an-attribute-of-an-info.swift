// expect: 'label' is a get-only property
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func change(_ info: inout SecItemInfo<GenericPassword>) { info.label = "x" }
