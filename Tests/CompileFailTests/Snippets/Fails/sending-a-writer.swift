// expect: stored property 'writer' of 'Sendable'-conforming struct 'Leak' has non-Sendable type 'any RecordWriter'
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

struct Leak: Sendable {
    let writer: any RecordWriter
}
