// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI

extension CommandRun {
    /// `contains`: says by the exit status whether an item exists.
    func contains() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        let store = try open(try settings(), creation: .never)
        let classes = selector.itemClass.map { [$0] } ?? selector.classes
        for itemClass in classes {
            if try await contains(selector, as: itemClass.itemType, store) { return .done }
        }
        return .notFound
    }

    private func contains<Item: SecItem>(
        _ selector: Selector,
        as type: Item.Type,
        _ store: OpenStore
    ) async throws(KeychainError) -> Bool {
        try await store.keychain.contains(selector.query(of: type))
    }

    /// `info`: prints the attributes of the oldest match.
    func info() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        let store = try open(try settings(), creation: .never)
        let type = try await store.itemType(of: selector)
        guard let details = try await store.details(of: selector, as: type, limit: 1).first else { return .notFound }
        if wantsJSON {
            try io.print(JSONLine.item(details))
        } else if io.outputIsTerminal {
            let width = details.rows.map(\.[0].count).max() ?? 0
            let lines = details.rows.map { row in
                "\(row[0]):" + String(repeating: " ", count: width - row[0].count + 1) + TextEscaping.escaped(row[1])
            }
            try io.print(lines.joined(separator: "\n") + "\n")
        } else {
            try io.print(TextTable.tabSeparated(details.rows))
        }
        return .done
    }

    /// `ls`: lists items.
    func list() async throws(KeychainError) -> ExitCode {
        let selector = try Selector(parsed)
        let store = try open(try settings(), creation: .never)
        var items: [ItemDetails] = []
        for itemClass in selector.classes {
            items += try await store.details(of: selector, as: itemClass.itemType)
        }
        items.sort {
            $0.creationDate != $1.creationDate
                ? $0.creationDate < $1.creationDate : $0.reference.uuidString < $1.reference.uuidString
        }
        if wantsJSON {
            var lines = ""
            for item in items { lines += try JSONLine.item(item) }
            try io.print(lines)
        } else if io.outputIsTerminal {
            guard !items.isEmpty else { return .done }
            let heading = ["CLASS", "NAME", "ACCOUNT", "LABEL", "MODIFIED", "REFERENCE"]
            try io.print(TextTable.aligned(heading, items.map(\.fields)))
        } else {
            try io.print(TextTable.tabSeparated(items.map(\.fields)))
        }
        return .done
    }
}

extension ItemDetails {
    /// The fields of a listing: class, name, account, label, time of the last change, reference.
    var fields: [String] {
        [
            SelectorOptions.word(for: itemClass), name, text(.account), text(.label), Timestamp.text(modificationDate),
            reference.uuidString,
        ]
    }

    /// What tells the item from others of its class, account aside.
    var name: String {
        switch itemClass {
        case .genericPassword: return text(.service)
        case .internetPassword:
            let scheme = text(.protocol)
            let port = text(.port)
            let server = text(.server)
            let host = server.contains(":") ? "[\(server)]" : server
            return (scheme.isEmpty ? "" : "\(scheme)://") + host + (port.isEmpty ? "" : ":\(port)") + text(.path)
        case .key: return data(.applicationTag)
        case .certificate, .identity: return text(.serialNumber)
        }
    }

    /// Bytes as the text that they are, else in base64.
    private func data(_ name: AttributeName) -> String {
        guard case .data(let data)? = attributes.first(where: { $0.name == name })?.value else { return "" }
        return String(validating: data, as: UTF8.self) ?? data.base64EncodedString()
    }

    /// The attributes one by one, as `info` prints them.
    var rows: [[String]] {
        var rows = [["class", SelectorOptions.word(for: itemClass)]]
        rows += attributes.map {
            [AttributeOption.kebabCase($0.name.rawValue), AttributeText.format($0.value, $0.name)]
        }
        rows += [
            ["group", group.rawValue],
            ["synchronizable", isSynchronizable ? "yes" : "no"],
            ["accessible", AttributeText.name(of: accessibility)],
            ["created", Timestamp.text(creationDate)],
            ["modified", Timestamp.text(modificationDate)],
            ["ref", reference.uuidString],
        ]
        return rows
    }
}
