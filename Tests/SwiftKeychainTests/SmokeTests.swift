// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain
import Testing

@Suite struct SmokeTests {
    @Test func snippet() throws {
        try Keychain.withDefault(Keychain(driver: MemoryDriver())) {
            let keychain = Keychain.default
            try keychain.store("8e9c0a7f", query: .credential(for: "OpenAI"))
            let token: String? = try keychain.retrieve(.credential(for: "OpenAI"))
            #expect(token == "8e9c0a7f")
            #expect(throws: KeychainError.duplicateItem) {
                try keychain.store("x", query: .credential(for: "OpenAI"))
            }
            try keychain.store(Data([0, 1]), query: .credential(for: "u", space: .website("h")))
            #expect(try keychain.remove(.credential(for: "OpenAI")))
            #expect(try keychain.retrieve(.credential(for: "OpenAI")) as String? == nil)
            try keychain.transaction { k in
                try k.store("1", query: .credential(for: "t"))
                let v: String? = try k.retrieve(.credential(for: "t"))
                #expect(v == "1")
            }
            #expect(throws: KeychainError(.invalidParameter, "")) {
                try keychain.transaction { k in
                    try k.store("2", query: .credential(for: "t2"))
                    try keychain.store("2", query: .credential(for: "t3"))
                }
            }
            #expect(try keychain.contains(.credential(for: "t2")) == false)
        }
    }

    @Test func async() async throws {
        let keychain = Keychain(driver: MemoryDriver())
        let changes = try await keychain.changes(matching: SecItemQuery<GenericPassword>())
        try await keychain.store("a", query: .credential(for: "OpenAI"))
        var it = changes.makeAsyncIterator()
        let c = try await it.next()
        guard case .added(let i)? = c else { Issue.record("\(String(describing: c))"); return }
        #expect(i.service == "OpenAI")
        let t: String? = try await keychain.retrieve(.credential(for: "OpenAI"))
        #expect(t == "a")
        print(i, keychain)
    }
}
