// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@Suite struct SecureBytesTests {
    static let sizes = [0, 1, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, 8192, 8193, 1 << 20]

    @Test(arguments: sizes)
    func keepsEveryByte(size: Int) {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        let secret = SecureBytes(bytes)
        #expect(secret.count == size)
        #expect(secret.isEmpty == (size == 0))
        #expect(secret.withUnsafeBytes { Array($0) } == bytes)
        #expect(secret.withBytes { Array($0) } == bytes)
        #expect(SecureBytes(Data(bytes)) == secret)
        #expect(secret.rawRepresentation == Data(bytes))
    }

    @Test(arguments: sizes)
    func isZeroBeforeItIsWritten(size: Int) {
        // Dirty memory first: the pool hands the same blocks out again.
        for _ in 0..<4 { _ = SecureBytes([UInt8](repeating: 0xFF, count: size)) }
        let secret = SecureBytes(count: size) { bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        #expect(secret.count == size)
    }

    @Test func givesOnTheErrorOfItsInitializer() {
        #expect(throws: KeychainError.Code.io.error) {
            try SecureBytes(count: 8) { (_) throws(KeychainError) in throw KeychainError(.io, "x") }
        }
    }

    @Test func comparesBytesAndLengths() {
        #expect(SecureBytes([1, 2, 3]) == SecureBytes([1, 2, 3]))
        #expect(SecureBytes([1, 2, 3]) != SecureBytes([1, 2, 4]))
        #expect(SecureBytes([0, 2, 3]) != SecureBytes([1, 2, 3]))
        #expect(SecureBytes([1, 2]) != SecureBytes([1, 2, 0]))
        #expect(SecureBytes([UInt8]()) == SecureBytes(Data()))
        let secret = SecureBytes([9])
        let copy = secret
        #expect(copy == secret)
    }

    @Test func livesAsLongAsAClosureReadsIt() {
        // No variable holds these: only the call keeps the storage alive.
        for _ in 0..<1000 {
            let sum = SecureBytes([1, 2, 3]).withUnsafeBytes { bytes in
                _ = SecureBytes([UInt8](repeating: 9, count: 3))
                return bytes.reduce(0) { $0 + Int($1) }
            }
            #expect(sum == 6)
        }
    }

    @Test func thousandsAreAliveAtOnce() {
        let secrets = (0..<20_000).map { SecureBytes(Data("\($0)".utf8)) }
        for (index, secret) in secrets.enumerated() {
            #expect(secret.withUnsafeBytes { $0.elementsEqual("\(index)".utf8) })
        }
    }

    @Test func manyTasksShareThePool() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var kept: [(SecureBytes, [UInt8])] = []
                    for round in 0..<200 {
                        let bytes = [UInt8](repeating: UInt8(task), count: (round * 37) % 5000)
                        kept.append((SecureBytes(bytes), bytes))
                        if round % 3 == 0 { kept.removeFirst() }
                    }
                    return kept.allSatisfy { secret, bytes in secret.withUnsafeBytes { $0.elementsEqual(bytes) } }
                }
            }
            for await intact in group { #expect(intact) }
        }
    }

    @Test func oneIsReadByManyTasks() async {
        let secret = SecureBytes(Data(repeating: 5, count: 4097))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { secret == SecureBytes(Data(repeating: 5, count: 4097)) }
            }
            for await equal in group { #expect(equal) }
        }
    }
}

extension KeychainError.Code {
    /// An error with this code, to compare with.
    var error: KeychainError { KeychainError(self, "") }
}
