// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI

    /// An item without its value as an archive has it: a JSON object (RFC 8259).
    ///
    /// docs/ArchiveFormat.md describes it.
    struct ArchivedItem: Codable {
        private let `class`: String
        private let group: String
        private let synchronizable: Bool
        private let attributes: [String: Value]

        /// The value of an attribute: text, a number, a truth value, or an object with bytes in base64.
        private enum Value: Codable {
            case text(String)
            case number(Int64)
            case flag(Bool)
            case bytes(Data)

            private enum CodingKeys: String, CodingKey {
                case base64
            }

            init(from decoder: any Decoder) throws {
                if let object = try? decoder.container(keyedBy: CodingKeys.self) {
                    self = .bytes(try object.decode(Data.self, forKey: .base64))
                    return
                }
                let value = try decoder.singleValueContainer()
                if let flag = try? value.decode(Bool.self) {
                    self = .flag(flag)
                } else if let number = try? value.decode(Int64.self) {
                    self = .number(number)
                } else {
                    self = .text(try value.decode(String.self))
                }
            }

            func encode(to encoder: any Encoder) throws {
                if case .bytes(let data) = self {
                    var object = encoder.container(keyedBy: CodingKeys.self)
                    return try object.encode(data, forKey: .base64)
                }
                var value = encoder.singleValueContainer()
                switch self {
                case .text(let text): try value.encode(text)
                case .number(let number): try value.encode(number)
                case .flag(let flag): try value.encode(flag)
                case .bytes: break
                }
            }
        }

        private init(_ record: ItemRecord) {
            `class` = record.itemClass.rawValue
            group = record.accessGroup
            synchronizable = record.isSynchronizable
            var attributes: [String: Value] = [:]
            for attribute in record.attributes {
                attributes[attribute.name.rawValue] =
                    switch attribute.value {
                    case .text(let text): .text(text)
                    case .integer(let number): .number(number)
                    case .boolean(let flag): .flag(flag)
                    case .data(let data): .bytes(data)
                    }
            }
            self.attributes = attributes
        }

        /// An item as JSON in UTF-8.
        static func encode(_ record: ItemRecord) throws(KeychainError) -> Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let data = try? encoder.encode(ArchivedItem(record)) else {
                throw KeychainError(.internal, "An item cannot be written as JSON. Please report it.")
            }
            return data
        }

        /// An item from its JSON; its reference and its dates are those of nothing.
        ///
        /// - Throws: `unsupported` for a class or an attribute that only a later version knows; `corrupt` for what is no item.
        static func decode(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> ItemRecord {
            guard let item = try? JSONDecoder().decode(ArchivedItem.self, from: Data(bytes)) else {
                throw KeychainError(.corrupt, "An item of the archive cannot be read. Please report it.")
            }
            guard let itemClass = ItemClass(rawValue: item.class), itemClass != .identity else { throw newer }
            let schema = AttributeSchema.schema(of: itemClass)
            var attributes = AttributeSet()
            for (name, value) in item.attributes {
                let name = AttributeName(rawValue: name)
                let known: AttributeValue =
                    switch value {
                    case .text(let text): .text(text)
                    case .number(let number): .integer(number)
                    case .flag(let flag): .boolean(flag)
                    case .bytes(let data): .data(data)
                    }
                guard schema.form(of: name) == known.form else { throw newer }
                attributes[name] = known
            }
            return ItemRecord(
                reference: UUID(),
                itemClass: itemClass,
                accessGroup: item.group,
                isSynchronizable: item.synchronizable,
                attributes: attributes,
                creationDate: ItemDate(microseconds: 0),
                modificationDate: ItemDate(microseconds: 0)
            )
        }

        private static let newer = KeychainError(
            .unsupported,
            "The archive holds an item that only a later version of this library knows; nothing was taken. Use that one."
        )
    }
#endif
