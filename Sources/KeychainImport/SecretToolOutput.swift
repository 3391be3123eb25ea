// SPDX-License-Identifier: MIT

public import KeychainAPI

/// What `secret-tool search --all --unlock NAME VALUE 2>&1` prints.
///
/// The tool writes attributes to its standard error, so both have to be taken together. Its output has no escapes: what
/// could be read in two ways is an error with the line, and so is what is missing. One thing cannot be told: a secret
/// that contains, line by line, the rest of its item and the beginning of another is read as two items. Where someone
/// else may have stored secrets, use `Keychain.importCollection(from:to:ifExists:)` instead.
public enum SecretToolOutput {
    /// Reads the items of an output.
    ///
    /// Values are taken byte for byte: of any number of lines, empty or binary. Attributes become those of a generic or
    /// an internet password as the Secret Service driver reads other programs' items; what fits none of them is kept,
    /// as the article “Importing what you have” says.
    ///
    /// - Parameter output: The standard output and the standard error, in the order in which they were written.
    /// - Returns: The items, in their order.
    /// - Throws: `ambiguous` for what can be read in two ways; `decode` for what is no such output; `interactionNotAllowed`
    ///   for an item without its secret, which is locked; `unsupported` for an item of this library, whose value has a
    ///   form of its own. Each names the line.
    public static func items(in output: SecureBytes) throws(KeychainError) -> [ImportedItem] {
        try output.withBytes { (bytes) throws(KeychainError) in
            var reader = SecretToolReader(bytes)
            var items: [ImportedItem] = []
            while let item = try reader.next() { items.append(item) }
            return items
        }
    }
}
