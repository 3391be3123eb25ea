// SPDX-License-Identifier: MIT

/// What a store did not do as the contract says.
///
/// The text contains no value of an item.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the check; empty until the check has ended.
    public internal(set) var check = ""
    /// What was expected, and what came instead.
    public let expectation: String
    /// The file of the check, as `#fileID` gives it.
    public let fileID: String
    /// The line of the check.
    public let line: Int

    init(_ expectation: String, fileID: String = #fileID, line: Int = #line) {
        self.expectation = expectation
        self.fileID = fileID
        self.line = line
    }

    /// The check, the expectation and the place in the kit's source, in one line.
    public var description: String { "\(check): \(expectation) (\(fileID):\(line))" }
}
