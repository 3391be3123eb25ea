// SPDX-License-Identifier: MIT
#if X509 || File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem
    #if File
        import KeychainArchive
    #endif

    /// The file or the pipe of an import, of which the beginning has been looked at.
    final class ImportInput {
        /// The path, `-` for standard input.
        let path: String

        private let io: CommandIO
        private let file: FileDescriptor?
        private let deadline: ContinuousClock.Instant?
        private var beginning: SecureBytes?

        /// Opens it.
        ///
        /// - Throws: The system's error.
        init(_ path: String, _ io: CommandIO, _ settings: Settings) throws(KeychainError) {
            self.path = path
            deadline = settings.deadline
            // Opening a pipe would else wait for its other end, past every deadline.
            file = path == "-" ? nil : try FileDescriptor(path, O_RDONLY | O_NONBLOCK, action: Self.failure(path))
            self.io = file.map { CommandIO(input: $0.number, interrupt: io.interrupt) } ?? io
            beginning = try explained { () throws(KeychainError) in try self.io.readChunk(8, deadline) }
        }

        #if File
            /// Whether it begins as an archive does.
            var isArchive: Bool { beginning?.withBytes { $0.elementsEqual(KeychainArchive.magic) } ?? false }
        #endif

        /// All of it.
        ///
        /// - Throws: `dataTooLarge` beyond the limit, or the system's error.
        func all(limit: Int) throws(KeychainError) -> SecureBytes {
            do throws(KeychainError) {
                return try explained { () throws(KeychainError) in
                    try io.readInput(limit: limit, droppingNewline: false, beginning: beginning, deadline: deadline)
                }
            } catch {
                guard error.code == .dataTooLarge else { throw error }
                let name = path == "-" ? "The input" : "The file ‘\(path)’"
                throw KeychainError(.dataTooLarge, "\(name) has more than \(limit) bytes.")
            }
        }

        /// The next bytes.
        ///
        /// - Parameter target: Where they go.
        /// - Returns: How many there were, 0 at the end.
        /// - Throws: The system's error.
        func read(into target: UnsafeMutableRawBufferPointer) throws(KeychainError) -> Int {
            if let start = beginning, !start.isEmpty {
                let count = min(start.count, target.count)
                start.withBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
                beginning = start.withBytes { SecureBytes(UnsafeRawBufferPointer(rebasing: $0.dropFirst(count))) }
                return count
            }
            return try explained { () throws(KeychainError) in try io.read(into: target, deadline) }
        }

        /// What reading says speaks of standard input.
        private func explained<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
            do throws(KeychainError) {
                return try body()
            } catch {
                guard file != nil, let number = error.underlying.map({ Int32($0.code) }), number > 0 else {
                    throw error
                }
                throw .system(number, Self.failure(path))
            }
        }

        private static func failure(_ path: String) -> String { "The file ‘\(path)’ could not be read" }
    }
#endif
