// SPDX-License-Identifier: MIT

import Foundation
import SwiftKeychain

// Everything but the import above is as it was written for a Mac, with SwiftSecurity.

let usage = """
    usage: logins add HOST USER      (the password is read from the standard input)
           logins show HOST USER
           logins list
           logins remove HOST USER
           logins token              (tells whether there is one)
           logins token set          (the token is read from the standard input)
           logins forget             (removes everything)
    """

struct Logins {
    let keychain = Keychain.default

    /// What the application itself signs in with.
    @Credential("logins.example.com") var token: String?

    func add(_ user: String, host: String, password: String) throws {
        let value = try keychain.store(
            password,
            returning: .info,
            query: labelled(user, host: host),
            accessPolicy: AccessPolicy(.whenUnlockedThisDeviceOnly)
        )
        if case .dictionary(let info)? = value { print("Added \(info.label ?? "a login").") }
    }

    func show(_ user: String, host: String) throws -> Bool {
        guard let password: String = try keychain.retrieve(login(user, host: host)) else { return false }
        print(password)
        return true
    }

    func list() throws {
        var query = SecItemQuery<InternetPassword>()
        query.protocol = .https
        for value in try keychain.retrieveAll(.info, query: query) {
            guard case .dictionary(let info) = value else { continue }
            print("\(info.account ?? "")@\(info.server ?? "")")
        }
    }

    func remove(_ user: String, host: String) throws -> Bool {
        try keychain.remove(login(user, host: host))
    }

    func forget() throws {
        try keychain.removeAll()
    }

    private func login(_ user: String, host: String) -> SecItemQuery<InternetPassword> {
        .credential(for: user, space: WebProtectionSpace(host: host, protocol: .https))
    }

    private func labelled(_ user: String, host: String) -> SecItemQuery<InternetPassword> {
        var query = login(user, host: host)
        query.label = "\(user) at \(host)"
        query.comment = "Added by logins"
        return query
    }
}

func complain(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}

func run(_ arguments: [String]) throws -> Int32 {
    let logins = Logins()
    switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first, arguments.count) {
    case ("add", let host?, let user?, 3):
        guard let password = readLine() else { break }
        try logins.add(user, host: host, password: password)
        return 0
    case ("show", let host?, let user?, 3):
        return try logins.show(user, host: host) ? 0 : 1
    case ("list", nil, nil, 1):
        try logins.list()
        return 0
    case ("remove", let host?, let user?, 3):
        return try logins.remove(user, host: host) ? 0 : 1
    case ("token", nil, nil, 1):
        print(logins.token == nil ? "There is no token." : "There is a token.")
        return 0
    case ("token", "set", nil, 2):
        guard let token = readLine() else { break }
        try logins.$token.store(token)
        return 0
    case ("forget", nil, nil, 1):
        try logins.forget()
        return 0
    default: break
    }
    complain(usage)
    return 2
}

do {
    exit(try run(Array(CommandLine.arguments.dropFirst())))
} catch {
    complain("logins: \(error.localizedDescription)")
    exit(1)
}
