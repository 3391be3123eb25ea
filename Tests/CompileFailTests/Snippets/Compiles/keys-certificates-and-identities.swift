// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

var key = SecItemQuery<SecKey>.key(for: "tag", descriptor: .rsaPrivateKey)
key.keySizeInBits = 2048
var certificate = SecItemQuery<SecCertificate>.certificate(for: "label")
certificate.issuer = Data()
var identity = SecItemQuery<SecIdentity>.identity(for: "label")
identity.keyClass = .private
identity.issuer = Data()
