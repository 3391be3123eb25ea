// SPDX-License-Identifier: MIT
#if SecretService
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem

    /// Where the session bus is.
    enum BusAddress {
        /// The address of the session bus.
        ///
        /// - Parameter environment: Where `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` are looked up.
        /// - Throws: `unavailable` if there is none, or none that can be used without starting a bus; `invalidParameter` if
        ///   a variable is not UTF-8.
        static func session(_ environment: [String: String]) throws(KeychainError) -> String {
            if let address = try environment.variable("DBUS_SESSION_BUS_ADDRESS"), !address.isEmpty {
                return try usable(address)
            }
            if let folder = try environment.variable("XDG_RUNTIME_DIR"), folder.isAbsolutePath {
                var status = stat()
                if stat(folder + "/bus", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK {
                    return "unix:path=" + escaped(folder + "/bus")
                }
            }
            throw KeychainError(
                .unavailable,
                "There is no D-Bus session bus, which the desktop's keyring needs. Log in to a desktop session, run "
                    + "under "
                    + "dbus-run-session (package dbus), or use another store, for example file:."
            )
        }

        /// Refuses what is no address, and what would make GDBus start a bus.
        static func usable(_ address: String) throws(KeychainError) -> String {
            let isUsable =
                address.contains(":") && !address.hasPrefix("disabled:") && !address.utf8.contains(0)
                && !address.split(separator: ";").contains { $0.hasPrefix("autolaunch:") }
            guard isUsable else {
                throw KeychainError(
                    .unavailable,
                    "‘\(address)’ (DBUS_SESSION_BUS_ADDRESS) is not the address of a running bus. Log in to a desktop "
                        + "session, or run under dbus-run-session."
                )
            }
            return address
        }

        /// Escapes a path for an address (D-Bus specification, "Server Addresses").
        private static func escaped(_ path: String) -> String {
            path.utf8.map { byte in
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [0x2D, 0x5F, 0x2F, 0x2E, 0x2A, 0x5C].contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }
#endif
