// SPDX-License-Identifier: MIT

import SwiftKeychain
import Testing

extension KeychainKeys {
    static let token = KeychainKey<String>("token", service: "com.example.app")
    static let numbers = KeychainKey<[Int]>("numbers", service: "com.example.app", codec: .json)
}

extension SecItemQuery where Value == GenericPassword {
    static var example: SecItemQuery { .credential(for: "example") }
}

/// Has no occurrence in anything but where it is leaked.
let secret = "pMZ3-swordfish"

/// Expects one issue with a text that does not show the secret.
func expectIssue(_ text: String, sourceLocation: SourceLocation = #_sourceLocation, from body: () -> Void) {
    withKnownIssue(sourceLocation: sourceLocation) {
        body()
    } matching: { issue in
        let said = "\(issue) \(issue.comments.map(\.rawValue)) " + String(reflecting: issue.kind)
        return issue.comments.contains { $0.rawValue.contains(text) } && !said.contains(secret)
            && issue.sourceLocation?.fileID.hasPrefix("KeychainTestingTests/") == true
    }
}
