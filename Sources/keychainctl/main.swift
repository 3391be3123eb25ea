// SPDX-License-Identifier: MIT

import Glibc
import KeychainCommand

exit(KeychainCommand.main())
