// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization

/// Why a fixture does not stand.
public struct FixtureError: Error, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A program that was started here, and that is ended and reaped here.
final class ChildProcess: Sendable {
    private static let packages = [
        "dbus-daemon": "dbus", "gnome-keyring-daemon": "gnome-keyring", "keepassxc-cli": "keepassxc",
        "kwalletd5": "--no-install-recommends libkf5wallet-bin libqca-qt5-2-plugins", "gdbus": "libglib2.0-bin",
        "secret-tool": "libsecret-tools", "python3": "python3-dbus python3-gi python3-keyring python3-secretstorage",
        "cc": "gcc libc6-dev", "gpg": "gnupg", "gpgconf": "gnupg", "pkg-config": "pkg-config libsecret-1-dev",
    ]

    private let identifier: pid_t
    /// How it ended, nil as long as nobody has asked.
    private let status = Mutex<Int32?>(nil)

    /// Starts a program with nothing of this process but the three standard files that it is given.
    ///
    /// - Parameters:
    ///   - name: Its name in the standard folders, or its path.
    ///   - arguments: Its arguments.
    ///   - environment: Its whole environment.
    ///   - input: Its standard input, by default empty.
    ///   - output: Its standard output, by default discarded.
    ///   - errors: Its standard error, by default discarded.
    ///   - inherited: What else it is given, by the numbers that it has there, which no file here has.
    /// - Throws: A ``FixtureError`` that says what to install.
    init(
        _ name: String,
        _ arguments: [String],
        _ environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil,
        inherited: [Int32: Int32] = [:]
    ) throws {
        let candidates = name.hasPrefix("/") ? [name] : ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw FixtureError("\(name) is missing. Run: apt-get install -y \(Self.packages[name] ?? name)")
        }
        let standard: [(target: Int32, source: Int32?)] = [(0, input), (1, output), (2, errors)]
        let files = standard + inherited.map { (target: $0.key, source: $0.value) }
        let command = Self.withTheirStarter + [path] + arguments
        let (error, identifier) = Starter.shared.run { Self.spawn(command, environment, files) }
        guard error == 0 else { throw FixtureError("\(path) does not start: \(String(cString: strerror(error)))") }
        self.identifier = identifier
        Leftovers.note(identifier)
    }

    /// What ends a program with the process that started it, however that ends.
    private static let withTheirStarter: [String] = {
        let path = "/usr/bin/setpriv"
        return access(path, X_OK) == 0 ? [path, "--pdeathsig", "KILL", "--"] : []
    }()

    private static func spawn(
        _ command: [String],
        _ environment: [String: String],
        _ files: [(target: Int32, source: Int32?)]
    ) -> (error: Int32, identifier: pid_t) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in files {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, target)
            } else {
                posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
            }
        }
        var argv = command.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var identifier: pid_t = 0
        return (posix_spawn(&identifier, command[0], &actions, nil, &argv, &envp), identifier)
    }

    deinit {
        end()
    }

    /// Sends a signal, unless the program has been waited for.
    func signal(_ signal: Int32) {
        status.withLock { status in
            if status == nil { kill(identifier, signal) }
        }
    }

    /// Waits until the program ends.
    ///
    /// - Returns: Its exit status, or 128 and the signal that ended it.
    @discardableResult
    func wait() -> Int32 {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            while waitpid(identifier, &raw, 0) == -1 && errno == EINTR {}
            Leftovers.forget(identifier)
            let code = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F
            status = code
            return code
        }
    }

    /// Ends the program at once.
    func end() {
        signal(SIGKILL)
        wait()
    }
}

/// The thread that starts every program, and that lasts as long as this process.
///
/// What ends a program with its starter goes by the thread (prctl(2), PR_SET_PDEATHSIG), and those of a pool come and
/// go.
private final class Starter: Sendable {
    static let shared = Starter()

    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let bell = DispatchSemaphore(value: 0)

    private init() {
        Thread { [self] in
            while true {
                bell.wait()
                jobs.withLock { $0.removeFirst() }()
            }
        }.start()
    }

    /// Runs a closure on the thread, and waits for it.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let result = Mutex<Result?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        jobs.withLock { jobs in
            jobs.append {
                result.withLock { $0 = body() }
                isDone.signal()
            }
        }
        bell.signal()
        isDone.wait()
        return result.withLock { $0! }
    }
}

/// Descriptors that no other child inherits, not even one that is started at the same moment.
enum Descriptors {
    /// Two connected ends: the one that a program writes to, and the one that is read here.
    static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw failure("There are no sockets") }
        return (ends[0], ends[1])
    }

    /// A socket at a path, to which others can connect.
    static func listen(_ path: String) throws -> Int32 {
        let descriptor = try socket(path, Glibc.bind)
        guard Glibc.listen(descriptor, 1) == 0 else { throw failure("Nothing can listen at \(path)") }
        return descriptor
    }

    /// A connection to a socket at a path.
    static func connect(_ path: String) throws -> Int32 { try socket(path, Glibc.connect) }

    private static func socket(
        _ path: String,
        _ attach: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { return false }
            room.copyBytes(from: path.utf8)
            return true
        }
        guard isShort else { throw FixtureError("\(path) is too long for a socket. Use a shorter TMPDIR.") }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { attach(descriptor, $0, size) }
        }
        guard descriptor >= 0, result == 0 else {
            let error = failure("There is no socket at \(path)")
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// An unnamed file with a content, at its beginning.
    static func makeFile(_ content: Data = Data()) throws -> Int32 {
        let path = FileManager.default.temporaryDirectory.path + "/fixture-\(UUID().uuidString)"
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("There is no temporary file") }
        unlink(path)
        try FileHandle(fileDescriptor: file).write(contentsOf: content)
        lseek(file, 0, SEEK_SET)
        return file
    }

    /// The content of a file, from its beginning.
    static func content(_ file: Int32) throws -> Data {
        lseek(file, 0, SEEK_SET)
        return try FileHandle(fileDescriptor: file).readToEnd() ?? Data()
    }

    /// Reads a line, without its end; nil when the program has ended.
    static func readLine(_ descriptor: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            if byte == 0x0A { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    private static func failure(_ what: String) -> FixtureError {
        FixtureError("\(what): \(String(cString: strerror(errno)))")
    }
}
