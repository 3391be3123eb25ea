// SPDX-License-Identifier: MIT

import FoundationEssentials
public import KeychainAPI
public import Testing

/// Expects that the keychain of the test holds a value for a query; records an issue that does not show it if not.
///
/// Looks past the faults of the test, and is no recorded call.
///
/// - Parameters:
///   - value: The value, compared byte by byte.
///   - query: The item; the oldest, if several match.
///   - sourceLocation: Where an issue is recorded.
public func expectStored<Item: SecStorable>(
    _ value: some SecDataConvertible,
    for query: SecItemQuery<Item>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(sourceLocation) { (keychain) throws(KeychainError) in
        let expected = value.secureRepresentation
        guard let stored: SecureBytes = try keychain.retrieve(query) else {
            return "Nothing is stored for the query ‘\(query)’."
        }
        if stored == expected { return nil }
        return "The value that is stored for the query ‘\(query)’ differs: it has \(stored.count) bytes, "
            + "\(expected.count) were expected."
    }
}

/// Expects that the keychain of the test holds a value for a key; records an issue that does not show it if not.
///
/// Looks past the faults of the test, and is no recorded call.
///
/// - Parameters:
///   - value: The value.
///   - key: The key.
///   - sourceLocation: Where an issue is recorded.
public func expectStored<Value: Equatable>(
    _ value: Value,
    for key: KeychainKey<Value>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(sourceLocation) { (keychain) throws(KeychainError) in
        guard let stored = try keychain.get(key) else { return "Nothing is stored for the key ‘\(key.account)’." }
        return stored == value ? nil : "The value that is stored for the key ‘\(key.account)’ differs."
    }
}

/// Expects that the keychain of the test holds no item that a query matches; records an issue if it does.
///
/// Looks past the faults of the test, and is no recorded call.
///
/// - Parameters:
///   - query: The items.
///   - sourceLocation: Where an issue is recorded.
public func expectNotStored<Item: SecItem>(
    for query: SecItemQuery<Item>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(sourceLocation) { (keychain) throws(KeychainError) in
        let count = try keychain.infoAll(for: query).count
        return count == 0 ? nil : "\(count == 1 ? "An item is" : "\(count) items are") stored for the query ‘\(query)’."
    }
}

/// Expects that the keychain of the test holds no item for a key; records an issue if it does.
///
/// Looks past the faults of the test, and is no recorded call.
///
/// - Parameters:
///   - key: The key.
///   - sourceLocation: Where an issue is recorded.
public func expectNotStored<Value>(
    for key: KeychainKey<Value>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expect(sourceLocation) { (keychain) throws(KeychainError) in
        try keychain.contains(key) ? "A value is stored for the key ‘\(key.account)’." : nil
    }
}

/// Expects that a secret does not occur in a text, for example a log or the description of an error; records an issue that
/// shows neither if it does.
///
/// Needs no trait.
///
/// - Parameters:
///   - secret: The secret; an empty one, which occurs everywhere, is an issue.
///   - text: Where it must not be. It is looked for as it is, and not in an encoding such as Base64.
///   - sourceLocation: Where an issue is recorded.
public func expectNoSecret(
    _ secret: some SecDataConvertible,
    in text: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let found: (count: Int, offset: Int?) = secret.secureRepresentation.withBytes { bytes in
        let bytes = Array(bytes)
        let range = Data(text.utf8).firstRange(of: bytes)
        return (bytes.count, bytes.isEmpty ? 0 : range?.lowerBound)
    }
    guard let offset = found.offset else { return }
    Issue.record(
        found.count == 0
            ? "The secret is empty, and so in every text. Give one that tells something."
            : "The text contains the secret of \(found.count) bytes at byte \(offset).",
        sourceLocation: sourceLocation
    )
}

/// Records what is wrong with the keychain of the test, or why it could not be looked at.
private func expect(
    _ sourceLocation: SourceLocation,
    _ finding: (Keychain) throws(KeychainError) -> String?
) {
    do throws(KeychainError) {
        guard let finding = try finding(KeychainTest.current.unwatched) else { return }
        Issue.record("\(finding)", sourceLocation: sourceLocation)
    } catch {
        // The error of the store, which contains no value.
        Issue.record("\(error.message)", sourceLocation: sourceLocation)
    }
}
