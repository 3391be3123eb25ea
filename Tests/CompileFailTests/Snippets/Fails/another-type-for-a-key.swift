// expect: member 'token' in 'KeychainKey<Int>' produces result of type 'KeychainKey<String>'
// SPDX-License-Identifier: MIT

import KeychainAPI

extension KeychainKeys {
    static let token = KeychainKey<String>("token", service: "app")
}

func store(_ keychain: Keychain) throws { try keychain.set(5, for: .token) }
