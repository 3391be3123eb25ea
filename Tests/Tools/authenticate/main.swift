// SPDX-License-Identifier: MIT
//
// Usage: AuthenticationTool ADDRESS ACTION MILLISECONDS
//
// Asks polkit on the system bus at ADDRESS whether the person confirms ACTION, and gives them that long. Prints "confirmed", or the error's code and
// message, and what the system said.

import Glibc
import KeychainAPI
import KeychainAuthentication

guard CommandLine.arguments.count == 4, let limit = Int(CommandLine.arguments[3]) else { exit(2) }
let client = PolkitClient(
    path: "/usr/bin/pkcheck",
    environment: ["DBUS_SYSTEM_BUS_ADDRESS": CommandLine.arguments[1]],
    user: getuid()
)
let authentication = SystemAuthentication(actionIdentifier: CommandLine.arguments[2], client: client)
do throws(KeychainError) {
    try authentication.authenticate(.userPresence, reason: "", CallContext(.retrieve, timeout: .milliseconds(limit)))
    print("confirmed")
} catch {
    print("\(error) (\(error.underlying?.message ?? "nothing"))")
}
