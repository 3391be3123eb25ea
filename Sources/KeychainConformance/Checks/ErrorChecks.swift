// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension ConformanceSuite {
    private static let names: Set<String> = [
        "duplicateItem", "itemNotFound", "invalidParameter", "unsupported", "authenticationFailed",
        "interactionNotAllowed", "userCanceled", "unavailable", "accessDenied", "readOnly", "timedOut", "cancelled",
        "busy",
        "dataTooLarge", "decode", "corrupt", "insecurePermissions", "outOfSpace", "io", "ambiguous", "internal",
    ]

    /// The codes that mean that a store could not look.
    private static let couldNotLook = KeychainError.Code.all.filter { $0 != .itemNotFound }

    static let errors = CheckList.make(.errors) { list in
        list.add("The codes have their stable names") { _ in
            let known = Set(KeychainError.Code.all.map(\.rawValue))
            try expectEqual(names.subtracting(known).sorted(), [], "Codes that are missing")
            try expectEqual(KeychainError.Code.all.count, known.count, "Each name is given once")
        }
        list.add("Each code has an OSStatus of its own that leads back to it") { _ in
            for code in KeychainError.Code.all {
                try expectEqual(KeychainError.Code(osStatus: code.osStatus), code, "\(code) and back")
                try expect(code.osStatus != 0, "No error is success")
            }
            try expectEqual(
                Set(KeychainError.Code.all.map(\.osStatus)).count,
                KeychainError.Code.all.count,
                "All differ"
            )
            try expect(KeychainError.Code(osStatus: 0) == nil, "Success is no error")
            let apple: [(KeychainError.Code, OSStatus)] = [
                (.duplicateItem, -25_299), (.itemNotFound, -25_300), (.invalidParameter, -50), (.unsupported, -4),
                (.authenticationFailed, -25_293), (.interactionNotAllowed, -25_308), (.userCanceled, -128),
                (.unavailable, -25_291), (.readOnly, -25_292), (.decode, -26_275), (.dataTooLarge, -25_302), (.io, -36),
            ]
            for (code, status) in apple { try expectEqual(code.osStatus, status, "Apple's number for \(code)") }
        }
        list.add("Errors are equal by code, and caught by code") { _ in
            try expect(KeychainError(.busy, "One.") == KeychainError(.busy, "Two."), "The text does not count")
            try expect(KeychainError(.busy, "One.") != KeychainError(.io, "One."), "The code does")
            let error: any Error = KeychainError(.duplicateItem, "There is one.")
            do { throw error } catch KeychainError.duplicateItem { return } catch {}
            throw ConformanceFailure("A catch by pattern takes it")
        }
        list.add("An error says which driver, store and verb it is about, and what to do") { bench in
            try bench.keychain.store("v", query: password("s"))
            let error = try expectThrows(.duplicateItem, from: .store, "A duplicate") {
                try bench.keychain.store("v", query: password("s"))
            }
            try expectEqual(error.driver, bench.keychain.driver.identifier, "The driver")
            try expectEqual(error.location, bench.keychain.location, "The store")
            try expect(error.message.hasSuffix("."), "A sentence")
            try expect(error.debugDescription.contains(bench.keychain.location), "The long form names the store")
            try expect(error.description.contains("duplicateItem"), "The short form names the code")
        }
        for code in couldNotLook {
            list.add("\(code) of the driver comes out of every verb as it is, never as “not found”") { bench in
                try expectPassedThrough(code, bench)
            }
        }
        list.add("What a library or the system said stays with the error") { bench in
            let (keychain, spy) = bench.spied()
            let underlying = KeychainError.Underlying(domain: "errno", code: 28, message: "No space left on device")
            spy.fail(at: .commit, with: KeychainError(.outOfSpace, "No space is left.", underlying: underlying))
            let error = try expectThrows(.outOfSpace, from: .store, "The driver's error") {
                try keychain.store("v", query: password("s"))
            }
            try expect(error.underlying == underlying, "The system's own words")
            try expect(error.debugDescription.contains("errno 28"), "The long form shows them")
        }
        list.add("A commit that fails changes nothing, whatever the verb") { bench in
            let (keychain, spy) = bench.spied()
            try bench.keychain.store("v", query: password("s"))
            spy.fail(at: .commit, with: KeychainError(.io, "Writing failed."))
            for policy in [IfExists.replaceValue, .replace] {
                try bench.expectRefused(.io, from: .store, "store(\(policy))") {
                    try keychain.store("w", query: password("s"), ifExists: policy)
                }
            }
            try bench.expectRefused(.io, from: .store, "store") { try keychain.store("w", query: password("t")) }
            try bench.expectRefused(.io, from: .update, "update") { try keychain.update(password("s"), .label("x")) }
            try bench.expectRefused(.io, from: .remove, "remove") { try keychain.remove(password("s")) }
            try bench.expectRefused(.io, from: .remove, "removeAll") { try keychain.removeAll() }
            spy.recover()
            try keychain.store("w", query: password("s"), ifExists: .replace)
            try expectValue(try bench.value(password("s")), bytes("w"), "After that it works again")
        }
        list.add("A damaged value is corrupt for the one item, not for its neighbours") { bench in
            let (keychain, spy) = bench.spied()
            try keychain.store("v", query: password("s"))
            spy.fail(at: .value, with: KeychainError(.corrupt, "The value is damaged."))
            try expectThrows(.corrupt, from: .retrieve, "Reading the value") {
                _ = try bench.value(password("s"), in: keychain)
            }
            try expectEqual(try keychain.infoAll(for: password("s")).count, 1, "Its attributes are there")
            spy.recover()
            try expectValue(try bench.value(password("s"), in: keychain), bytes("v"), "Nothing was removed")
        }
    }

    /// Lets the driver fail at each point, and demands its error from each verb.
    private static func expectPassedThrough(_ code: KeychainError.Code, _ bench: Bench) throws {
        let (keychain, spy) = bench.spied()
        let error = KeychainError(code, "The store answers with \(code).")
        let query = password("s")
        let missing = password("missing")
        let scratch = Keychain(driver: ScratchDriver())
        try keychain.store("v", query: query)

        spy.fail(at: .read, with: error)
        for asked in [query, missing] {
            try expectThrows(code, from: .retrieve, "retrieve") { _ = try bench.value(asked, in: keychain) }
            try expectThrows(code, from: .retrieve, "retrieveAll") { _ = try keychain.retrieveAll(query: asked) }
            try expectThrows(code, from: .info, "info") { _ = try keychain.info(for: asked) }
            try expectThrows(code, from: .info, "infoAll") { _ = try keychain.infoAll(for: asked) }
            try expectThrows(code, from: .contains, "contains") { _ = try keychain.contains(asked) }
            try expectThrows(code, from: .copy, "copy") { try keychain.copy(asked, to: scratch) }
        }
        spy.fail(at: .write, with: error)
        for policy in IfExists.allCases {
            try bench.expectRefused(code, from: .store, "store") {
                try keychain.store("w", query: query, ifExists: policy)
            }
        }
        for asked in [query, missing] {
            try bench.expectRefused(code, from: .update, "update") { try keychain.update(asked, .label("x")) }
            try bench.expectRefused(code, from: .remove, "remove") { try keychain.remove(asked) }
        }
        try bench.expectRefused(code, from: .remove, "removeAll") { try keychain.removeAll() }
        try bench.expectRefused(code, from: .move, "move") { try keychain.move(query, to: scratch) }
        try expect(try snapshot(scratch).isEmpty, "A failed move leaves no copy")
        if keychain.capabilities.contains(.transactions) {
            try bench.expectRefused(code, from: .transaction, "transaction") {
                try keychain.transaction { try $0.store("w", query: missing) }
            }
        }
        spy.fail(at: .value, with: error)
        try expectThrows(code, from: .retrieve, "Reading a value") { _ = try bench.value(query, in: keychain) }
        spy.fail(at: .commit, with: error)
        try bench.expectRefused(code, from: .store, "A commit") { try keychain.store("w", query: missing) }
    }
}
