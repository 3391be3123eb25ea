// SPDX-License-Identifier: MIT

import KeychainAPI
import Testing

@testable import KeychainCommand

struct ExitCodeTests {
    private static let expected: [KeychainError.Code: Int32] = [
        .itemNotFound: 1, .invalidParameter: 2, .duplicateItem: 3, .interactionNotAllowed: 4, .userCanceled: 4,
        .authenticationFailed: 5, .unavailable: 6, .corrupt: 7, .rolledBack: 7, .timedOut: 8, .cancelled: 8, .busy: 8,
        .unsupported: 9, .readOnly: 9, .accessDenied: 9, .insecurePermissions: 9, .ambiguous: 9, .dataTooLarge: 2,
        .decode: 10, .outOfSpace: 10, .io: 10, .internal: 10,
    ]

    @Test func everyCodeHasItsStatus() {
        #expect(Set(Self.expected.keys) == Set(KeychainError.Code.all))
        for code in KeychainError.Code.all {
            #expect(ExitCode(code).rawValue == Self.expected[code], "\(code)")
        }
    }

    @Test func aCodeOfALaterVersionIsAFailure() {
        #expect(ExitCode(KeychainError.Code(rawValue: "someLaterCode")) == .failed)
    }

    @Test func noStatusSaysTheSameAsAnother() {
        #expect(Set(ExitCode.allCases.map(\.summary)).count == ExitCode.allCases.count)
        #expect(ExitCode.allCases.map(\.rawValue) == Array(0...10))
    }
}
