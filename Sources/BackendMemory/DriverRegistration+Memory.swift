// SPDX-License-Identifier: MIT

public import KeychainAPI
import Synchronization

extension DriverIdentifier {
    /// The store in memory.
    public static let memory: DriverIdentifier = "memory"
}

extension DriverRegistration {
    /// The stores that `memory:` URLs have named in this process.
    private static let stores = Mutex<[StoreURL: MemoryDriver]>([:])

    /// The driver for `memory:` URLs: one store for each name, as long as the process lives.
    ///
    /// Never chosen by itself, since what it keeps is lost at the end.
    public static let memory = DriverRegistration(
        identifier: .memory,
        summary: "in memory, lost when the process ends",
        priority: nil,
        probe: { _ in .available("It needs nothing.") },
        open: { url, _ throws(KeychainError) in
            stores.withLock { stores in
                let store = stores[url] ?? MemoryDriver(name: url.path)
                stores[url] = store
                return store
            }
        }
    )
}
