// SPDX-License-Identifier: MIT

import Glibc

extension [String: String] {
    /// The environment of the process as it is now.
    ///
    /// As Foundation's, which looks for the end of a name by characters: that takes most of the time of a short command.
    package static var ofProcess: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            next += 1
            guard let end = strchr(entry, Int32(UInt8(ascii: "="))) else { continue }
            let name = UnsafeRawBufferPointer(start: entry, count: end - entry)
            variables[String(decoding: name, as: UTF8.self)] = String(cString: end + 1)
        }
        return variables
    }

    /// The value of a variable in an environment, nil if it is not set.
    ///
    /// Foundation's environment of the process is text, in which bytes that are no UTF-8 have been replaced. Used as a
    /// name or path, such a value would lead to another store than the one that was meant.
    ///
    /// - Parameter name: The variable.
    /// - Throws: `invalidParameter` if the process was given bytes that are no UTF-8.
    package func variable(_ name: String) throws(KeychainError) -> String? {
        guard let value = self[name] else { return nil }
        // Compared first: the environment may be one that the caller has made up, and that is text.
        if let bytes = getenv(name), String(cString: bytes) == value, String(validatingCString: bytes) == nil {
            throw KeychainError(
                .invalidParameter,
                "The environment variable \(name) is not UTF-8. Names and paths are UTF-8 text; set it anew."
            )
        }
        return value
    }
}
