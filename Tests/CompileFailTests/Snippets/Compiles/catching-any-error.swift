// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func code(_ body: () throws -> Void) -> String {
    do {
        try body()
        return ""
    } catch KeychainError.duplicateItem {
        return "duplicate"
    } catch KeychainError.Code.timedOut {
        return "late"
    } catch {
        return "other"
    }
}
