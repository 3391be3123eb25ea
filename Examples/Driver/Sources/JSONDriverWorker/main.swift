// SPDX-License-Identifier: MIT

import Foundation
import JSONFileDriver
import KeychainAPI
import KeychainConformance

exit(ConformanceWorker.main { url in try JSONFileDriver(path: url.path) })
