// SPDX-License-Identifier: MIT

import KeychainAPI

extension SecureBytes {
    /// The bytes as text, in ordinary memory.
    ///
    /// - Throws: `decode` if they are not UTF-8.
    var text: String {
        get throws(KeychainError) {
            guard let text = withBytes({ String(validating: $0, as: UTF8.self) }) else {
                throw KeychainError(.decode, "The value is not UTF-8 text, which this use of it needs.")
            }
            return text
        }
    }
}
