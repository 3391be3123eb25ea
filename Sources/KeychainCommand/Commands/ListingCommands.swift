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
        let summary = try await store.certificateSummary(of: details)
        let rows = details.rows + (details.keyKind.isEmpty ? [] : [["kind", details.keyKind]]) + (summary?.rows ?? [])
        if wantsJSON {
            var object = JSONLine.object(details)
            for row in rows.dropFirst(details.rows.count) {
                object[AttributeOption.camelCase(row[0])] = .text(row[1])
            }
            try io.print(JSONLine.line(object))
        } else if io.outputIsTerminal {
            let width = rows.map(\.[0].count).max() ?? 0
            let lines = rows.map { row in
                "\(row[0]):" + String(repeating: " ", count: width - row[0].count + 1) + TextEscaping.escaped(row[1])
            }
            try io.print(lines.joined(separator: "\n") + "\n")
        } else {
            try io.print(TextTable.tabSeparated(rows))
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
            try io.print(try await table(of: items, selector.itemClass, store))
        } else {
            try io.print(TextTable.tabSeparated(items.map(\.fields)))
        }
        return .done
    }

    /// A listing for people: what matters of a class, if there is but one.
    private func table(
        of items: [ItemDetails],
        _ itemClass: ItemClass?,
        _ store: OpenStore
    ) async throws(KeychainError) -> String {
        switch itemClass {
        case .certificate?, .identity?:
            var rows: [[String]] = []
            for item in items {
                let summary = try await store.certificateSummary(of: item)
                rows.append([
                    summary?.subject ?? "", summary.map { Timestamp.text($0.validUntil) } ?? "", item.text(.label),
                    item.reference.uuidString, summary?.fingerprint ?? "",
                ])
            }
            return TextTable.aligned(["SUBJECT", "VALID UNTIL", "LABEL", "REFERENCE", "FINGERPRINT"], rows)
        case .key?:
            let rows = items.map { item in
                [
                    item.name, item.keyKind, item.text(.label), Timestamp.text(item.modificationDate),
                    item.reference.uuidString,
                ]
            }
            return TextTable.aligned(["TAG", "KIND", "LABEL", "MODIFIED", "REFERENCE"], rows)
        case .genericPassword?, .internetPassword?, nil:
            let heading = ["CLASS", "NAME", "ACCOUNT", "LABEL", "MODIFIED", "REFERENCE"]
            return TextTable.aligned(heading, items.map(\.fields))
        }
    }
}

extension OpenStore {
    /// What a certificate says, or that of an identity; nil for another item, and for one that is no certificate.
    func certificateSummary(of item: ItemDetails) async throws(KeychainError) -> CertificateSummary? {
        guard [.certificate, .identity].contains(item.itemClass) else { return nil }
        var query = SecItemQuery<SecCertificate>()
        query.persistentReference = PersistentReference(uuid: item.reference)
        guard case .data(let data)? = try await keychain.retrieve(.data, query: query) else { return nil }
        return try CertificateSummary(data)
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
