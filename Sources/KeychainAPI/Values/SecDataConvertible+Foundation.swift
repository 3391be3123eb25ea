// SPDX-License-Identifier: MIT

public import FoundationEssentials

extension UUID: SecDataConvertible {
    /// Reads the text form of RFC 9562, in either case.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let text = try String(rawRepresentation: rawRepresentation)
        // Foundation takes a sign for a digit, and so reads another one.
        guard let uuid = UUID(uuidString: text), uuid.uuidString == text.uppercased() else {
            throw CocoaError(.formatting)
        }
        self = uuid
    }

    /// The text form, as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    public var rawRepresentation: Data { Data(uuidString.utf8) }
}

extension URL: SecDataConvertible {
    /// Reads an absolute URL; anything else is an error.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let text = try String(rawRepresentation: rawRepresentation)
        guard let url = URL(string: text), url.scheme != nil, url.absoluteString == text else {
            throw CocoaError(.formatting)
        }
        self = url
    }

    /// The text of the URL, with its base if it has one.
    public var rawRepresentation: Data { Data(absoluteString.utf8) }
}

extension Date: SecDataConvertible {
    /// Reads seconds since 1970, as ``rawRepresentation`` writes them.
    public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let seconds = try Double(rawRepresentation: rawRepresentation)
        guard seconds.isFinite else { throw CocoaError(.formatting) }
        self.init(timeIntervalSince1970: seconds)
    }

    /// The seconds since 1970 as text, as `1764547200.25`; read again, it is the same to the microsecond.
    public var rawRepresentation: Data { timeIntervalSince1970.rawRepresentation }
}
