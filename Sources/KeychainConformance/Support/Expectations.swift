// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

/// Fails unless a condition holds.
func expect(_ condition: Bool, _ expectation: String, fileID: String = #fileID, line: Int = #line) throws {
    guard condition else { throw ConformanceFailure(expectation, fileID: fileID, line: line) }
}

/// Fails unless two things are equal; shows both, so not for values of items.
func expectEqual<Value: Equatable>(
    _ actual: Value,
    _ expected: Value,
    _ expectation: String,
    fileID: String = #fileID,
    line: Int = #line
) throws {
    guard actual == expected else {
        throw ConformanceFailure("\(expectation): expected \(expected), got \(actual)", fileID: fileID, line: line)
    }
}

/// Fails unless a value is the expected one; shows neither.
func expectValue(
    _ actual: Data?,
    _ expected: Data?,
    _ expectation: String,
    fileID: String = #fileID,
    line: Int = #line
) throws {
    guard actual != expected else { return }
    let size = { (data: Data?) in data.map { "\($0.count) bytes" } ?? "no item" }
    let detail = actual?.count == expected?.count ? "the bytes differ" : "\(size(actual)) instead of \(size(expected))"
    throw ConformanceFailure("\(expectation): \(detail)", fileID: fileID, line: line)
}

/// Fails unless something is there.
func unwrap<Value>(
    _ value: Value?,
    _ expectation: String,
    fileID: String = #fileID,
    line: Int = #line
) throws -> Value {
    guard let value else { throw ConformanceFailure("\(expectation): nothing is there", fileID: fileID, line: line) }
    return value
}

/// Fails unless a closure throws one of the library's errors with one of some codes, and with its place filled in.
@discardableResult
func expectThrows(
    _ code: KeychainError.Code,
    or other: KeychainError.Code? = nil,
    from operation: KeychainOperation? = nil,
    _ expectation: String,
    fileID: String = #fileID,
    line: Int = #line,
    _ body: () throws -> Void
) throws -> KeychainError {
    do {
        try body()
    } catch {
        return try examine(error, [code] + [other].compactMap { $0 }, operation, expectation, fileID, line)
    }
    throw ConformanceFailure("\(expectation): expected \(code), nothing was thrown", fileID: fileID, line: line)
}

/// Fails unless an asynchronous closure throws one of the library's errors with one of some codes.
@discardableResult
func expectThrowsAsync(
    _ code: KeychainError.Code,
    or other: KeychainError.Code? = nil,
    from operation: KeychainOperation? = nil,
    _ expectation: String,
    fileID: String = #fileID,
    line: Int = #line,
    _ body: () async throws -> Void
) async throws -> KeychainError {
    do {
        try await body()
    } catch {
        return try examine(error, [code] + [other].compactMap { $0 }, operation, expectation, fileID, line)
    }
    throw ConformanceFailure("\(expectation): expected \(code), nothing was thrown", fileID: fileID, line: line)
}

private func examine(
    _ error: any Error,
    _ codes: [KeychainError.Code],
    _ operation: KeychainOperation?,
    _ expectation: String,
    _ fileID: String,
    _ line: Int
) throws -> KeychainError {
    if let failure = error as? ConformanceFailure { throw failure }
    guard let error = error as? KeychainError else {
        throw ConformanceFailure("\(expectation): a \(type(of: error)) was thrown", fileID: fileID, line: line)
    }
    guard codes.contains(error.code) else {
        throw ConformanceFailure("\(expectation): expected \(codes), got \(error.code)", fileID: fileID, line: line)
    }
    guard error.driver != nil, error.location != nil, error.operation != nil,
        operation == nil || error.operation == operation
    else {
        throw ConformanceFailure(
            "\(expectation): the error does not say which driver, store and verb it is about",
            fileID: fileID,
            line: line
        )
    }
    return error
}
