// SPDX-License-Identifier: MIT

/// A program that opens a driver's stores from another process: its main function is
/// ``ConformanceWorker/main(arguments:openDriver:)``.
public struct WorkerCommand: Sendable {
    /// The path of the program.
    public let executable: String
    /// The store that the program opens.
    public let storeURL: String
    /// What is added to the environment; never shown.
    public let environment: [String: String]

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - executable: The path of the program.
    ///   - storeURL: The store that the program opens.
    ///   - environment: What is added to the environment.
    public init(executable: String, storeURL: String, environment: [String: String] = [:]) {
        self.executable = executable
        self.storeURL = storeURL
        self.environment = environment
    }
}
