// SPDX-License-Identifier: MIT

import KeychainAPI

extension ItemClass {
    /// The type that stands for the class where items are stored or changed; nil for identities, which are put together
    /// from two items.
    ///
    /// Not by a cast of ``itemType``: at the first one the runtime looks through every conformance of the program.
    var storableType: (any SecStorable.Type)? {
        switch self {
        case .genericPassword: GenericPassword.self
        case .internetPassword: InternetPassword.self
        case .key: SecKey.self
        case .certificate: SecCertificate.self
        case .identity: nil
        }
    }

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
