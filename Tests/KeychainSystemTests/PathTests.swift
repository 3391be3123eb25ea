// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@testable import KeychainSystem

struct PathTests {
    @Test func partsOfAPath() {
        #expect("/a//b/".pathComponents == ["a", "b"] && "".pathComponents.isEmpty)
        #expect("/a/b".parentPath == "/a" && "/a".parentPath == nil && "a".parentPath == nil && "a/b".parentPath == "a")
        #expect("/a/b".lastPathComponent == "b" && "a".lastPathComponent == "a" && "a/".lastPathComponent == "")
        #expect("/a".isAbsolutePath && !"a/b".isAbsolutePath && !"".isAbsolutePath)
    }

    /// A name may begin with a combining mark, and is then one character with the slash before it.
    @Test func aSlashIsAByte() {
        let path = "/a/\u{301}b"
        #expect(path.pathComponents == ["a", "\u{301}b"])
        #expect(
            path.parentPath == "/a" && path.lastPathComponent.unicodeScalars.elementsEqual("\u{301}b".unicodeScalars)
        )
        #expect("/\u{301}".isAbsolutePath)
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 20_000, 65_537]) func readingInPieces(count: Int) throws {
        let all = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        for piece in [1, 1000, Int.max] {
            func read(_ limit: Int) throws -> SecureBytes? {
                var rest = all[...]
                return try SecureBytes.reading(atMost: limit) { target in
                    let next = rest.prefix(min(piece, target.count))
                    target.copyBytes(from: next)
                    rest = rest.dropFirst(next.count)
                    return next.count
                }
            }
            #expect(try read(count) == SecureBytes(all))
            #expect(try read(count + 5000) == SecureBytes(all))
            if count > 0 { #expect(try read(count - 1) == nil) }
        }
    }

    @Test func theEnvironmentIsFoundations() {
        #expect([String: String].ofProcess == ProcessInfo.processInfo.environment)
    }
}
