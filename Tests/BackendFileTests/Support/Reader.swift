// SPDX-License-Identifier: MIT
#if File
    import Foundation
    import KeychainAPI

    @testable import BackendFile

    /// The other reader, `Reader/read_keychain.py`, which was written from `docs/FileFormat.md` alone.
    struct Reader {
        /// What the reader says of a file.
        struct Answer {
            /// 0; 1 for a file that is damaged or refused; 2 for a wrong key.
            let status: Int32
            let contents: [ItemRecord: Data]
            let references: [UUID]
            let message: String
        }

        /// There is no Python, or it does not find libsodium.
        struct Missing: Error, CustomStringConvertible {
            let description: String
        }

        private struct Line: Decodable {
            struct Attribute: Decodable {
                let text: String?
                let data: Data?
                let integer: Int64?
                let boolean: Bool?
            }

            let reference: UUID
            let `class`: String
            let group: String
            let synchronizable: Bool
            let created: Int64
            let modified: Int64
            let attributes: [String: Attribute]
            let value: Data
        }

        private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Reader/read_keychain.py").path

        private let scratch: Scratch

        /// Works in a folder of a test's own.
        init(_ scratch: Scratch) {
            self.scratch = scratch
        }

        /// Has the reader read the file of the test.
        func read(_ material: KeyMaterial = .key(SecureBytes(Scratch.rawKey))) throws -> Answer {
            let (option, secret) =
                switch material {
                case .key(let key): ("--key-file", key)
                case .passphrase(let passphrase): ("--passphrase-file", passphrase)
                }
            let secretPath = "\(scratch.folder)/secret-of-the-reader"
            try scratch.put(secret.data, at: secretPath)
            let result = try Tool.run([Self.script, scratch.path, option, secretPath], executable: "python3")
            guard (0...2).contains(result.status), !result.errors.contains("Traceback") else {
                throw Missing(
                    description:
                        "python3 with libsodium could not be run; install both with Scripts/install-dependencies build "
                        + "test. It said: \(result.errors)"
                )
            }
            let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            return Answer(
                status: result.status,
                contents: Dictionary(uniqueKeysWithValues: try lines.map { (try Self.record($0), $0.value) }),
                references: lines.map(\.reference),
                message: result.errors
            )
        }

        private static func record(_ line: Line) throws -> ItemRecord {
            var attributes = AttributeSet()
            for (name, attribute) in line.attributes {
                let forms: [AttributeValue?] = [
                    attribute.text.map { .text($0) }, attribute.data.map { .data($0) },
                    attribute.integer.map { .integer($0) }, attribute.boolean.map { .boolean($0) },
                ]
                attributes[AttributeName(rawValue: name)] = forms.compactMap(\.self).first
            }
            guard let itemClass = ItemClass(rawValue: line.class) else {
                throw Missing(description: "‘\(line.class)’ is no class")
            }
            return ItemRecord(
                reference: line.reference,
                itemClass: itemClass,
                accessGroup: line.group,
                isSynchronizable: line.synchronizable,
                attributes: attributes,
                creationDate: ItemDate(microseconds: line.created),
                modificationDate: ItemDate(microseconds: line.modified)
            )
        }
    }
#endif
