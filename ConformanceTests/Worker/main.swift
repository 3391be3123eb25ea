// SPDX-License-Identifier: MIT

import Foundation
import KeychainConformance
import SwiftKeychain

/// The other process of the conformance tests, for every driver that keeps items outside of the process.
exit(
    ConformanceWorker.main { url in
        try DriverRegistry.standard.open(url, options: StoreOptions(creation: .ifMissing))
    }
)
