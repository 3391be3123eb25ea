// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var query = SecItemQuery<InternetPassword>()
query.server = "example.com"
query.port = 443
query.protocol = .https
query.authenticationType = .htmlForm
query.securityDomain = "realm"
query.path = "/"
query.matchSubdomains = true
