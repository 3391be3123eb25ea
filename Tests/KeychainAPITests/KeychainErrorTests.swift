// SPDX-License-Identifier: MIT

import Foundation
import KeychainAPI
import Testing

@Suite struct KeychainErrorTests {
    /// Frozen: scripts and logs depend on the names, other programs on the numbers.
    private static let frozen: [(name: String, status: OSStatus)] = [
        ("duplicateItem", -25_299), ("itemNotFound", -25_300), ("invalidParameter", -50), ("unsupported", -4),
        ("authenticationFailed", -25_293), ("interactionNotAllowed", -25_308), ("userCanceled", -128),
        ("unavailable", -25_291), ("accessDenied", -34_018), ("readOnly", -25_292), ("timedOut", 100_060),
        ("cancelled", 100_089), ("busy", 100_016), ("dataTooLarge", -25_302), ("decode", -26_275),
        ("corrupt", -25_295), ("rolledBack", 100_116), ("insecurePermissions", 100_001), ("outOfSpace", -34),
        ("io", -36),
        ("ambiguous", -67_842), ("internal", -67_671),
    ]

    @Test func codesAndTheirNumbersAreStable() {
        #expect(KeychainError.Code.all.map(\.rawValue) == Self.frozen.map(\.name))
        #expect(KeychainError.Code.all.map(\.osStatus) == Self.frozen.map(\.status))
        #expect(KeychainError.Code.all.map(\.description) == Self.frozen.map(\.name))
    }

    @Test func eachCodeHasANumberOfItsOwn() {
        #expect(Set(KeychainError.Code.all).count == Self.frozen.count)
        #expect(Set(KeychainError.Code.all.map(\.osStatus)).count == Self.frozen.count)
        for code in KeychainError.Code.all { #expect(KeychainError.Code(osStatus: code.osStatus) == code) }
        #expect(KeychainError.Code(osStatus: 0) == nil)
        #expect(KeychainError.Code(osStatus: -25_294) == nil)
        #expect(KeychainError.Code(rawValue: "ofALaterVersion").osStatus == KeychainError.Code.internal.osStatus)
    }

    @Test func errorsAreEqualByTheirCode() {
        #expect(KeychainError(.io, "a") == KeychainError(.io, "b"))
        #expect(KeychainError(.io, "a") != KeychainError(.busy, "a"))
        #expect(KeychainError.itemNotFound.code == .itemNotFound)
        #expect(KeychainError.duplicateItem.code == .duplicateItem)
    }

    private func caught(_ code: KeychainError.Code) -> String {
        do throws(KeychainError) {
            throw KeychainError(code, "x")
        } catch .duplicateItem {
            return "duplicateItem"
        } catch .itemNotFound {
            return "itemNotFound"
        } catch .timedOut {
            return "timedOut"
        } catch .internal {
            return "internal"
        } catch {
            return "another, \(error.code)"
        }
    }

    @Test func aCodeCatchesAfterTypedThrows() {
        #expect(caught(.duplicateItem) == "duplicateItem")
        #expect(caught(.itemNotFound) == "itemNotFound")
        #expect(caught(.timedOut) == "timedOut")
        #expect(caught(.internal) == "internal")
        #expect(caught(.busy) == "another, busy")
    }

    private func caught(_ failure: any Error) -> String {
        do {
            throw failure
        } catch KeychainError.duplicateItem {
            return "duplicateItem"
        } catch KeychainError.itemNotFound {
            return "itemNotFound"
        } catch KeychainError.Code.timedOut {
            return "timedOut"
        } catch {
            return "another"
        }
    }

    @Test func aCodeCatchesAfterAnyThrows() {
        #expect(caught(KeychainError(.duplicateItem, "x") as any Error) == "duplicateItem")
        #expect(caught(KeychainError(.itemNotFound, "x") as any Error) == "itemNotFound")
        #expect(caught(KeychainError(.timedOut, "x") as any Error) == "timedOut")
        #expect(caught(KeychainError(.busy, "x") as any Error) == "another")
        #expect(caught(CancellationError()) == "another")
    }

    @Test func aCodeMatchesInASwitch() {
        switch KeychainError(.busy, "x") {
        case .duplicateItem: Issue.record("It is no duplicate.")
        case .busy: break
        default: Issue.record("It is busy.")
        }
    }

    @Test func theFirstPlaceStays() {
        let error = KeychainError(.io, "x")
        #expect(error.driver == nil && error.location == nil && error.operation == nil)
        let first = error.located(driver: "file", location: "file:/a", operation: .store)
        let second = first.located(driver: "memory", location: "memory:b", operation: .copy)
        #expect(second.driver == "file")
        #expect(second.location == "file:/a")
        #expect(second.operation == .store)
        #expect(second.message == "x")
    }

    @Test func descriptionsSayWhatAndWhere() {
        let underlying = KeychainError.Underlying(domain: "errno", code: 28, message: "No space left on device")
        let error = KeychainError(.outOfSpace, "Free some space.", underlying: underlying)
        #expect("\(error)" == "outOfSpace: Free some space.")
        #expect(error.debugDescription == "outOfSpace: Free some space. (errno 28: No space left on device)")
        #expect(error.underlying == underlying)
        let located = error.located(driver: "file", location: "file:/a", operation: .store)
        #expect("\(located)" == "outOfSpace: Free some space.")
        #expect(
            located.debugDescription
                == "outOfSpace: Free some space. [store at file:/a] (errno 28: No space left on device)"
        )
        #expect((error as any Error).localizedDescription == "Free some space.")
    }
}
