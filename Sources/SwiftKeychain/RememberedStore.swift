// SPDX-License-Identifier: MIT

import FoundationEssentials
package import KeychainAPI
import KeychainSystem

/// The store that the default choice first wrote to, kept in `$XDG_STATE_HOME/swift-keychain/default-store`.
///
/// It holds one store URL and a newline. A person may edit or remove it.
package struct RememberedStore: Sendable {
    private let environment: [String: String]

    /// Makes one; nothing is read yet.
    package init(environment: [String: String]) {
        self.environment = environment
    }

    /// Where it is kept.
    package var path: String {
        get throws(KeychainError) { try PrivateDirectory.state(environment: environment) + "/default-store" }
    }

    /// The store, nil if none was written to yet.
    ///
    /// - Throws: `corrupt` if the file is there and names no store, and why it could not be read.
    package func recall() throws(KeychainError) -> StoreURL? {
        let path = try path
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch {
            throw KeychainError(
                .io,
                "‘\(path)’, which names your default store, could not be read. Check its permissions."
            )
        }
        do {
            // What is not UTF-8 is no URL: repaired, it would name another store.
            let text = String(validating: data, as: UTF8.self) ?? ""
            return try StoreURL(parsing: text.trimmed)
        } catch {
            throw KeychainError(
                .corrupt,
                "‘\(path)’, which names your default store, does not hold a store URL. Write one into it, or remove it."
            )
        }
    }

    /// Writes a store down when something was stored in it.
    ///
    /// Between programs that do so for the first time at once, the first one decides.
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - call: Deadline and cancellation of the wait for another program.
    ///   - commit: Stores something there.
    /// - Throws: `unavailable`, before anything is stored, if another store was written down meanwhile; what the closure
    ///   throws; and why nothing could be written down.
    func remember<Result>(
        _ url: StoreURL,
        _ call: CallContext,
        commit: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let path = try path
        // The folder first: where the choice cannot be kept, nothing is stored that would be looked for elsewhere.
        try PrivateDirectory.ensure(try PrivateDirectory.state(environment: environment))
        return try ProcessLock(path: path + ".lock").withLock(call) { () throws(KeychainError) in
            let past = try recall()
            guard past == nil || past == url else {
                throw KeychainError(
                    .unavailable,
                    "Another program has just made another store the default one (‘\(path)’). Start again to use that one."
                )
            }
            let result = try commit()
            if past == nil { try write(url, to: path) }
            return result
        }
    }

    private func write(_ url: StoreURL, to path: String) throws(KeychainError) {
        do {
            try Data("\(url)\n".utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw KeychainError(
                .io,
                "The item was stored in \(url), but ‘\(path)’ could not be written. Make its folder writable, so that "
                    + "the same store is used next time."
            )
        }
    }
}
