// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization

/// A KWallet without a screen, on a bus of its own, with one open wallet.
///
/// It ends exactly the processes that it started, at the latest when it is released.
public final class PrivateKWallet: SecretServer {
    /// The bus.
    public let bus: PrivateBus

    private let daemon = Mutex<ChildProcess?>(nil)
    /// What the login derives from the user's password and hands over.
    private static let key = Data(0..<56)

    /// The wallet.
    public var collection: String { "/org/freedesktop/secrets/collection/kdewallet" }

    /// Starts a bus and the daemon.
    ///
    /// - Throws: A ``FixtureError`` with what to install if a program is missing.
    public static func start() throws -> PrivateKWallet {
        let server = try PrivateKWallet()
        // It shows a wallet that it has made only after it was started again.
        try server.startDaemon()
        try server.bus.wait(until: "kwalletd5 makes its wallet") {
            let file = server.bus.folder.appendingPathComponent("data/kwalletd/kdewallet.kwl")
            let isWritten = ((try? Data(contentsOf: file)) ?? Data()).count > 0
            return try server.wallet("wallets").contains("kdewallet") && isWritten
        }
        server.end()
        try server.startDaemon()
        try server.bus.wait(until: "kwalletd5 shows its wallet") {
            try server.bus.call("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias", ["default"])
                .contains(server.collection)
        }
        try server.unlock()
        return server
    }

    private init() throws {
        bus = try PrivateBus()
        try """
        [Wallet]
        Enabled=true
        First Use=false
        Prompt on Open=false
        Leave Open=true
        Default Wallet=kdewallet
        [Auto Allow]
        kdewallet=*
        """.write(
            to: bus.folder.appendingPathComponent("config/kwalletrc"),
            atomically: false,
            encoding: .utf8
        )
    }

    deinit {
        stop()
    }

    /// Ends the daemon and the bus, and removes the home.
    public func stop() {
        end()
        bus.stop()
    }

    private func end() {
        daemon.withLock { daemon in
            daemon?.end()
            daemon = nil
        }
    }

    /// Starts it as a login does: with the key in one descriptor, and in another a socket for the environment.
    private func startDaemon() throws {
        let key = try Descriptors.makeFile(Self.key)
        defer { close(key) }
        let door = bus.folder.appendingPathComponent("run/login-\(UUID().uuidString.prefix(8))").path
        let listener = try Descriptors.listen(door)
        defer { close(listener) }
        let started = try ChildProcess(
            "kwalletd5",
            ["--pam-login", "100", "101"],
            environment.merging(["PAM_KWALLET5_LOGIN": "1", "QT_QPA_PLATFORM": "offscreen"]) { $1 },
            inherited: [100: key, 101: listener]
        )
        daemon.withLock { $0 = started }
        // An empty environment: it has the one that it was started with.
        close(try Descriptors.connect(door))
        try bus.waitForService("kwalletd5")
    }

    /// Locks the wallet.
    public func lock() throws {
        // It refuses to lock what is locked.
        if try isLocked() { return }
        _ = try bus.call("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock", ["['\(collection)']"])
        guard try isLocked() else { throw FixtureError("The wallet does not lock.") }
    }

    /// Unlocks the wallet as a login does.
    public func unlock() throws {
        let key = Self.key.map { String($0) }.joined(separator: ", ")
        _ = try wallet("pamOpen", ["kdewallet", "[byte \(key)]", "0"])
        // The wallet is open; the prompt notices that, and ends without asking.
        _ = try python(
            """
            service = dbus.Interface(bus.get_object(NAME, PATH), 'org.freedesktop.Secret.Service')
            unlocked, prompt = service.Unlock(dbus.Array([sys.argv[1]], signature='o'))
            if prompt != '/': finish(prompt)
            """,
            [collection]
        )
        guard try !isLocked() else { throw FixtureError("The wallet does not unlock.") }
    }

    private func wallet(_ method: String, _ arguments: [String] = []) throws -> String {
        try bus.call("/modules/kwalletd5", "org.kde.KWallet.\(method)", arguments, destination: "org.kde.kwalletd5")
    }
}
