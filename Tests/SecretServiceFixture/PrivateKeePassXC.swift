// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A KeePassXC without a screen, on a bus of its own, with one open database.
///
/// It ends exactly the processes that it started, at the latest when it is released.
public final class PrivateKeePassXC: SecretServer {
    /// The bus.
    public let bus: PrivateBus

    private let program = Mutex<ChildProcess?>(nil)
    private let password = "correct horse"
    private let database: String

    /// KeePassXC names the collection after the file.
    public var collection: String { "/org/freedesktop/secrets/collection/passwords" }

    /// Starts a bus and the program.
    ///
    /// - Parameter confirmsDeletion: Whether a person has to confirm when a program deletes an item, as it is when
    ///   nothing is set.
    /// - Throws: A ``FixtureError`` with what to install if a program is missing.
    public static func start(confirmsDeletion: Bool = false) throws -> PrivateKeePassXC {
        let server = try PrivateKeePassXC()
        try server.makeDatabase()
        try server.startProgram(confirmsDeletion)
        return server
    }

    private init() throws {
        bus = try PrivateBus()
        database = bus.folder.appendingPathComponent("passwords.kdbx").path
    }

    deinit {
        stop()
    }

    /// Ends the program and the bus, and removes the home.
    public func stop() {
        program.withLock { program in
            program?.end()
            program = nil
        }
        bus.stop()
    }

    /// Only an exported database can say beforehand which group the Secret Service shows.
    private func makeDatabase() throws {
        let group = UUID()
        let bytes = withUnsafeBytes(of: group.uuid) { Data($0) }
        let export = bus.folder.appendingPathComponent("passwords.xml")
        try """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <KeePassFile>
        <Meta>
          <Generator>KeePassXC</Generator>
          <DatabaseName>passwords</DatabaseName>
          <CustomData><Item>
            <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{\(group.uuidString.lowercased())}</Value>
          </Item></CustomData>
        </Meta>
        <Root><Group><UUID>\(bytes.base64EncodedString())</UUID><Name>Root</Name></Group></Root>
        </KeePassFile>
        """.write(to: export, atomically: false, encoding: .utf8)
        let imported = try bus.run(
            "keepassxc-cli",
            ["import", "--quiet", "--decryption-time", "100", "--set-password", export.path, database],
            input: Data("\(password)\n\(password)\n".utf8)
        )
        guard imported.status == 0 else { throw FixtureError("No database can be made. \(imported.errors)") }
    }

    private func startProgram(_ confirmsDeletion: Bool) throws {
        let settings = bus.folder.appendingPathComponent("keepassxc.ini")
        // Saving after every change makes it crash under a series of changes (2.7.4).
        try """
        [General]
        AutoSaveAfterEveryChange=false
        AutoSaveOnExit=true
        UpdateCheckMessageShown=true
        [GUI]
        CheckForUpdates=false
        [Security]
        LockDatabaseIdle=false
        NoConfirmMoveEntryToRecycleBin=\(!confirmsDeletion)
        [FdoSecrets]
        Enabled=true
        ShowNotification=false
        ConfirmDeleteItem=\(confirmsDeletion)
        ConfirmAccessItem=false
        """.write(to: settings, atomically: false, encoding: .utf8)
        let input = try Descriptors.makeFile(Data("\(password)\n".utf8))
        defer { close(input) }
        let local = bus.folder.appendingPathComponent("local.ini").path
        // It finds out by a file in this folder whether it runs already.
        let variables = ["TMPDIR": bus.folder.path, "QT_QPA_PLATFORM": "offscreen"]
        let started = try ChildProcess(
            "keepassxc",
            ["--config", settings.path, "--localconfig", local, "--pw-stdin", database],
            environment.merging(variables) { $1 },
            input: input
        )
        program.withLock { $0 = started }
        try bus.waitForService("keepassxc")
        try bus.wait(until: "keepassxc shows an open database") {
            try bus.call("/org/freedesktop/secrets", "org.freedesktop.Secret.Service.ReadAlias", ["default"])
                .contains(collection) && !isLocked()
        }
    }

    /// Locks the database.
    public func lock() throws {
        _ = try window("lockAllDatabases")
        try bus.wait(until: "keepassxc locks its database") { try isLocked() }
    }

    /// Unlocks the database with its password.
    public func unlock() throws {
        _ = try window("openDatabase", [database, password])
        try bus.wait(until: "keepassxc unlocks its database") { try !isLocked() }
    }

    private func window(_ method: String, _ arguments: [String] = []) throws -> String {
        let name = "org.keepassxc.KeePassXC.MainWindow"
        return try bus.call("/keepassxc", "\(name).\(method)", arguments, destination: name)
    }
}
