// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<GenericPassword>()
query.service = "OpenAI"
query.account = "bob"
query.generic = Data([1])
query.creator = "abcd"
query.isInvisible = true
query.label = nil
