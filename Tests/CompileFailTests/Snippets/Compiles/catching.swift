// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func code(_ keychain: Keychain) -> String {
    do {
        try keychain.store("x", query: .credential(for: "OpenAI"))
        return ""
    } catch .duplicateItem {
        return "duplicate"
    } catch .timedOut {
        return "late"
    } catch {
        return error.code.rawValue
    }
}
