// SPDX-License-Identifier: MIT

import Glibc
import KeychainCommand

exit(await KeychainCommand.main())
