// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import Synchronization

/// An application password without cryptography: what the suite looks at is what becomes of sealed values on their way.
///
/// What it seals is told apart from the value, from what another password sealed, and from what another item has.
final class StandInPassword: ApplicationPassword {
    private let mark: UInt8
    private let uses = Mutex(0)

    init(_ mark: UInt8) {
        self.mark = mark
    }

    /// How often anything was asked of it.
    var useCount: Int { uses.withLock { $0 } }

    func prepare(_ call: CallContext) {
        uses.withLock { $0 += 1 }
    }

    func seal(_ value: SecureBytes, for item: UUID, _ call: CallContext) -> SecureBytes {
        uses.withLock { $0 += 1 }
        return SecureBytes(head(item) + value.rawRepresentation.map { $0 ^ 0xA5 })
    }

    func open(_ sealed: SecureBytes, for item: UUID, _ call: CallContext) throws(KeychainError) -> SecureBytes {
        uses.withLock { $0 += 1 }
        let (bytes, head) = ([UInt8](sealed.rawRepresentation), head(item))
        guard bytes.count >= head.count, bytes[0] == head[0] else {
            throw KeychainError(.corrupt, "The value is not sealed. Store it again.")
        }
        guard bytes[1] == mark else {
            throw KeychainError(.authenticationFailed, "This is not the password. Give the right one.")
        }
        guard bytes.starts(with: head) else {
            throw KeychainError(.corrupt, "The value was sealed for another item. Store it again.")
        }
        return SecureBytes(bytes[head.count...].map { $0 ^ 0xA5 })
    }

    private func head(_ item: UUID) -> [UInt8] { withUnsafeBytes(of: item.uuid) { [0xC3, mark] + $0 } }
}
