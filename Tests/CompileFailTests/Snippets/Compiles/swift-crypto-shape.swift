// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

struct SigningKey: Sendable {
    let rawRepresentation: Data
    init<D: ContiguousBytes>(rawRepresentation data: D) throws { rawRepresentation = data.withUnsafeBytes { Data($0) } }
}

extension SigningKey: SecDataConvertible {}
