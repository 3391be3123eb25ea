// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KeychainAPI
import Testing

/// What the kernel says about the memory of secrets; each in a process of its own, where nothing else allocates.
@Suite struct SecureMemoryTests {
    @Test(arguments: [32, 4096, 4097, 1 << 20])
    func isLockedAndNotDumped(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let page = try #require(ProcessMemory.map(4096))
            // Asked of the kernel: under a sanitizer mlock(2) succeeds and does nothing.
            _ = mlock(page, 4096)
            let canLock = try ProcessMemory.mapping(at: page)?.flags.contains("lo") == true
            let secret = Self.secret(size)
            let mapping = try #require(try ProcessMemory.mapping(at: address(of: secret)))
            #expect(mapping.access == "rw-p")
            #expect(mapping.flags.contains("dd"))
            #expect(mapping.flags.contains("lo") == canLock)
        }
    }

    @Test(arguments: [32, 4096, 4097, 1 << 20])
    func liesBetweenPagesThatNobodyMayTouch(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let secret = Self.secret(size)
            let mapping = try #require(try ProcessMemory.mapping(at: address(of: secret)))
            let all = try ProcessMemory.mappings()
            #expect(all.contains { $0.range.upperBound == mapping.range.lowerBound && $0.access == "---p" })
            #expect(all.contains { $0.range.lowerBound == mapping.range.upperBound && $0.access == "---p" })
        }
    }

    @Test func readingPastTheEndFaults() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            signal(SIGSEGV, SIG_DFL)
            let secret = Self.secret(5000)
            let end = address(of: secret) + 8192
            exit(end.load(as: UInt8.self) == 0 ? 0 : 1)
        }
    }

    @Test func readingBeforeTheBeginningFaults() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            signal(SIGSEGV, SIG_DFL)
            let secret = Self.secret(5000)
            let before = address(of: secret) - 1
            exit(before.load(as: UInt8.self) == 0 ? 0 : 1)
        }
    }

    @Test(arguments: [32, 100, 4096, 4097, 1 << 20])
    func isErasedOnRelease(size: Int) async {
        await #expect(processExitsWith: .success) { [size = size as Int] in
            let page = try #require(ProcessMemory.map(4096))
            let needle = UnsafeMutableRawBufferPointer(start: page, count: 32)
            for index in needle.indices { needle[index] = UInt8.random(in: 1...255) }
            var secret: SecureBytes? = SecureBytes(count: size) { $0.copyMemory(from: UnsafeRawBufferPointer(needle)) }
            // That it is found while it lives proves that it would be found afterwards.
            #expect(try ProcessMemory.occurrences(of: UnsafeRawBufferPointer(needle)) == 1)
            #expect(secret?.count == size)
            secret = nil
            #expect(try ProcessMemory.occurrences(of: UnsafeRawBufferPointer(needle)) == 0)
        }
    }

    @Test func isErasedWhenItsInitializerFails() async {
        await #expect(processExitsWith: .success) {
            let page = try #require(ProcessMemory.map(4096))
            let needle = UnsafeMutableRawBufferPointer(start: page, count: 32)
            for index in needle.indices { needle[index] = UInt8.random(in: 1...255) }
            #expect(throws: CancellationError.self) {
                try SecureBytes(count: 32) { bytes throws(CancellationError) in
                    bytes.copyMemory(from: UnsafeRawBufferPointer(needle))
                    throw CancellationError()
                }
            }
            #expect(try ProcessMemory.occurrences(of: UnsafeRawBufferPointer(needle)) == 0)
        }
    }

    @Test func largeMemoryGoesBackToTheSystem() async {
        await #expect(processExitsWith: .success) {
            var secret: SecureBytes? = Self.secret(1 << 20)
            let place = try #require(secret.map { address(of: $0) })
            secret = nil
            let mapping = try ProcessMemory.mapping(at: place)
            #expect(mapping?.flags.contains("dd") != true)
        }
    }

    @Test func manyThousandsStayBelowTheLimitOfMappings() async {
        await #expect(processExitsWith: .success) {
            let before = try ProcessMemory.mappingCount()
            let small = (0..<50_000).map { SecureBytes([UInt8(truncatingIfNeeded: $0)]) }
            let large = (0..<12_000).map { number in
                SecureBytes(count: 4097) { bytes in bytes[4096] = UInt8(truncatingIfNeeded: number) }
            }
            // Two mappings for each with pages of its own around it would be 24000 for the large ones alone.
            let now = try ProcessMemory.mappingCount()
            #expect(now - before < 20_000)
            #expect(small.enumerated().allSatisfy { $1.withUnsafeBytes { [$0[0]] } == [UInt8(truncatingIfNeeded: $0)] })
            #expect(large.enumerated().allSatisfy { $1.withUnsafeBytes { $0[4096] } == UInt8(truncatingIfNeeded: $0) })
        }
    }

    private static func secret(_ count: Int) -> SecureBytes {
        SecureBytes(count: count) { bytes in bytes.initializeMemory(as: UInt8.self, repeating: 7) }
    }
}

/// Where a secret is, for looking at its memory; not to be read after it is gone.
private func address(of secret: SecureBytes) -> UnsafeRawPointer {
    secret.withUnsafeBytes { $0.baseAddress! }
}
