// SPDX-License-Identifier: MIT

import KeychainAPI

/// Replaces secrets in a stream of bytes, also those that come in several pieces.
///
/// From the left, the longest first. What may be the beginning of a secret is kept until more comes; nothing else is.
struct OutputMask {
    private let secrets: [(value: SecureBytes, mask: [UInt8])]
    private let isFirst: [Bool]
    private var pending: [UInt8] = []

    /// Makes a mask.
    ///
    /// - Parameter secrets: The secrets; newlines at the end of one are not looked for, and an empty one is none.
    init(_ secrets: [EnvironmentSecret]) {
        let trimmed = secrets.compactMap { secret -> (value: SecureBytes, mask: [UInt8])? in
            let value = secret.value.withBytes { bytes in
                let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
                return SecureBytes(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            }
            return value.isEmpty ? nil : (value, Array("[\(secret.name)]".utf8))
        }
        self.secrets = trimmed.sorted { $0.value.count > $1.value.count }
        var isFirst = [Bool](repeating: false, count: 256)
        for secret in trimmed { secret.value.withBytes { isFirst[Int($0[0])] = true } }
        self.isFirst = isFirst
    }

    /// Takes more of the stream in.
    ///
    /// - Parameter bytes: What comes next.
    /// - Returns: What can be shown.
    mutating func mask(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        pending += bytes
        return take(isEnd: false)
    }

    /// What is left at the end of the stream.
    mutating func finish() -> [UInt8] { take(isEnd: true) }

    private mutating func take(isEnd: Bool) -> [UInt8] {
        var shown: [UInt8] = []
        var index = 0
        scan: while index < pending.count {
            if isFirst[Int(pending[index])] {
                for secret in secrets {
                    switch match(secret.value, at: index) {
                    case .whole:
                        shown += secret.mask
                        index += secret.value.count
                        continue scan
                    case .beginning where !isEnd: break scan
                    case .beginning, .none: continue
                    }
                }
            }
            shown.append(pending[index])
            index += 1
        }
        pending.removeFirst(index)
        return shown
    }

    private enum Match {
        case none
        /// As far as the bytes go.
        case beginning
        case whole
    }

    private func match(_ secret: SecureBytes, at index: Int) -> Match {
        let count = min(secret.count, pending.count - index)
        let isEqual = secret.withBytes { $0.prefix(count).elementsEqual(pending[index..<(index + count)]) }
        guard isEqual else { return .none }
        return count == secret.count ? .whole : .beginning
    }
}
