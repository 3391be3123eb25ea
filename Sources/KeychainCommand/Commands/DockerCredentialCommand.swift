// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import KeychainSystem

/// What Docker's client gives a credential helper.
private struct DockerCredential: Decodable {
    let serverURL: String
    let username: String
    let secret: String

    private enum CodingKeys: String, CodingKey {
        case serverURL = "ServerURL"
        case username = "Username"
        case secret = "Secret"
    }
}

extension CommandRun {
    /// `docker-credential`: a credential helper of Docker (github.com/docker/docker-credential-helpers).
    ///
    /// By its protocol an error stands on standard output, and the status is 1.
    func dockerCredential() async -> ExitCode {
        do throws(KeychainError) {
            try await answerDocker()
            return .done
        } catch {
            try? io.print(TextEscaping.line(error.message) + "\n")
            return .notFound
        }
    }

    private func answerDocker() async throws(KeychainError) {
        let settings = try settings()
        switch parsed.operands[0] {
        case "list":
            let store = try open(settings, creation: .never)
            var servers: [String: JSONValue] = [:]
            for info in try await store.keychain.retrieveAll(.info, query: Self.docker(nil)).compactMap(\.details) {
                servers[info.text(.service)] = .text(info.text(.account))
            }
            try io.print(JSONLine.line(servers))
        case "get":
            let server = try server(settings)
            let items = try await open(settings, creation: .never).keychain.items(Self.docker(server))
            guard let item = items.first else { throw Self.notFound }
            try io.print(
                JSONLine.line([
                    "ServerURL": .text(server), "Username": .text(item.info.account ?? ""),
                    "Secret": .text(try item.value.text),
                ])
            )
        case "store": try await store(settings)
        case "erase":
            // One that is not there is erased: the client asks for several forms of a server's name.
            try await open(settings, creation: .never).keychain.remove(Self.docker(try server(settings)))
        default:
            throw KeychainError(.invalidParameter, "Unknown credential action. Use get, store, erase or list.")
        }
    }

    private func store(_ settings: Settings) async throws(KeychainError) {
        let input = try io.readInput(limit: 1 << 20, droppingNewline: false, deadline: settings.deadline)
        guard let credential = input.withBytes({ try? JSONDecoder().decode(DockerCredential.self, from: Data($0)) })
        else {
            throw KeychainError(.invalidParameter, "The input is no JSON object with ServerURL, Username and Secret.")
        }
        guard !credential.serverURL.isEmpty else { throw Self.noServer }
        guard !credential.username.isEmpty else { throw Self.noUsername }
        let target = try open(settings, creation: .ifMissing)
        var query = Self.docker(credential.serverURL)
        query.account = credential.username
        query.label = "Registry credentials for \(credential.serverURL)"
        let keychain = target.keychain
        try await announcingCreation(of: target) { [query] () async throws(KeychainError) in
            try await keychain.store(credential.secret, query: query, ifExists: .replace)
        }
        // A server has one credential; the others go when this one is safe.
        for item in try await keychain.items(Self.docker(credential.serverURL))
        where item.info.account != credential.username {
            var other = SecItemQuery<GenericPassword>()
            other.persistentReference = item.info.persistentReference
            try await keychain.remove(other)
        }
    }

    /// The server's name on standard input, byte for byte but for the blanks around it.
    private func server(_ settings: Settings) throws(KeychainError) -> String {
        let input = try io.readInput(limit: 1 << 20, droppingNewline: false, deadline: settings.deadline)
        let server = try input.text.trimmed
        guard !server.isEmpty else { throw Self.noServer }
        return server
    }

    /// The items for Docker: generic passwords, since a server's name has to come back as it was given, and an internet
    /// password has its parts.
    private static func docker(_ server: String?) -> SecItemQuery<GenericPassword> {
        var query = SecItemQuery<GenericPassword>()
        query.creator = FourCharCode("dckr")
        query.service = server
        return query
    }

    // The client compares these with what it expects, letter by letter.
    private static let notFound = KeychainError(.itemNotFound, "credentials not found in native keychain")
    private static let noServer = KeychainError(.invalidParameter, "no credentials server URL")
    private static let noUsername = KeychainError(.invalidParameter, "no credentials username")
}
