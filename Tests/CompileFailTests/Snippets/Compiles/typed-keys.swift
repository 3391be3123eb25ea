// SPDX-License-Identifier: MIT

import KeychainAPI

struct Session: Codable, Sendable { var user: String }

extension KeychainKeys {
    static let token = KeychainKey<String>("token", service: "app") { $0.label = "Token" }
    static let session = KeychainKey<Session>("session", service: "app", codec: .json)
    static let site = KeychainKey<String>("bob", space: .website("example.com"))
}

func use(_ keychain: Keychain) throws(KeychainError) {
    try keychain.set("1", for: .token)
    let token: String? = try keychain.get(.token)
    let session = try keychain.get(.session, default: Session(user: token ?? ""))
    try keychain.set(session, for: .session)
    if case .success(let password?) = keychain[.site] { try keychain.set(password, for: .token) }
    try keychain.remove(.token)
}

func follow(_ keychain: Keychain) async throws(KeychainError) {
    for try await token in try await keychain.values(of: .token) { _ = token?.count }
    let container = keychain.container(for: "key", service: "app")
    try await container.store(5)
    if let number: Int = try await container.drop() { _ = number + 1 }
}
