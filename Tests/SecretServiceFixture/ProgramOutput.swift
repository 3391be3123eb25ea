// SPDX-License-Identifier: MIT

public import Foundation
import Glibc

/// What a program said before it ended.
public struct ProgramOutput: Sendable {
    /// The exit status, or 128 and the signal that ended it.
    public let status: Int32
    /// What it wrote to its standard output.
    public let output: Data
    /// What it wrote to its standard error.
    public let errors: String

    /// The standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs a program to its end.
    ///
    /// Its input and output are unnamed files: they take any amount without a thread that empties them.
    init(running name: String, _ arguments: [String], _ environment: [String: String], input: Data) throws {
        let files = [try Descriptors.makeFile(input), try Descriptors.makeFile(), try Descriptors.makeFile()]
        defer { for file in files { close(file) } }
        let process = try ChildProcess(
            name,
            arguments,
            environment,
            input: files[0],
            output: files[1],
            errors: files[2]
        )
        status = process.wait()
        output = try Descriptors.content(files[1])
        errors = String(decoding: try Descriptors.content(files[2]), as: UTF8.self)
    }
}
