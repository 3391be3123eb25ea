// SPDX-License-Identifier: MIT

import KeychainAPI

extension ItemClass {
    /// The type that stands for the class in queries.
    var itemType: any SecItem.Type {
        switch self {
        case .genericPassword: GenericPassword.self
        case .internetPassword: InternetPassword.self
        case .key: SecKey.self
        case .certificate: SecCertificate.self
        case .identity: SecIdentity.self
        }
    }
}
