// SPDX-License-Identifier: MIT

import Foundation
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
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw KeychainError(
                .io,
                "‘\(path)’, which names your default store, could not be read. Check its permissions."
            )
        }
        do {
            return try StoreURL(parsing: text.trimmingCharacters(in: .whitespacesAndNewlines))
        } catch {
            throw KeychainError(
                .corrupt,
                "‘\(path)’, which names your default store, does not hold a store URL. Write one into it, or remove it."
            )
        }
    }

    /// Makes the folder.
    func prepare() throws(KeychainError) {
        try PrivateDirectory.ensure(try PrivateDirectory.state(environment: environment))
    }

    /// Writes a store down, for good.
    func remember(_ url: StoreURL) throws(KeychainError) {
        let path = try path
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
