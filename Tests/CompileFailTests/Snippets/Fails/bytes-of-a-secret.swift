// expect: 'storage' is inaccessible due to 'private' protection level
// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI

func leak(_ secret: SecureBytes) { print(secret.storage) }
