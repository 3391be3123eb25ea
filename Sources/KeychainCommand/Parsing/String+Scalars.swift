// SPDX-License-Identifier: MIT

extension StringProtocol {
    /// What stands before and behind the first of a scalar, nil if it is not in the text.
    ///
    /// By scalars: as a character, `=` with a combining mark behind it is not `=`, and a carriage return with a newline is
    /// no newline. What a mark or a carriage return belongs to would get another value.
    func halves(at separator: Unicode.Scalar) -> (before: String, after: String)? {
        let scalars = String(self).unicodeScalars
        guard let index = scalars.firstIndex(of: separator) else { return nil }
        return (String(scalars[..<index]), String(scalars[scalars.index(after: index)...]))
    }

    /// The lines between newlines; a carriage return is part of its line.
    var scalarLines: [String] {
        String(self).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }
}
