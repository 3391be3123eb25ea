// SPDX-License-Identifier: MIT
#if SecretService

    /// An item as the service describes it, without its secret.
    struct StoredItem: Sendable {
        /// The object path.
        var path: String
        /// The attributes.
        var attributes: LookupAttributes
        /// The label that other programs show.
        var label: String
        /// When the service created the item, in seconds since 1970; 0 if it does not say.
        var created: UInt64
        /// When the service last changed the item, in seconds since 1970; 0 if it does not say.
        var modified: UInt64
        /// Whether the label and the dates are known, rather than empty because nobody asked for them.
        var isWhole = true

        /// Whether the item is in our layout, rather than another program's.
        var isOwn: Bool { attributes[ItemLayout.className] != nil }

        /// Whether it is another program's item whose value lies in it in base64, as QtKeychain keeps what is binary.
        var isBase64: Bool {
            !isOwn && attributes[ItemLayout.schemaName] == AttributeScheme.qtKeychain.schema
                && attributes["type"] == "base64"
        }

        /// The most bytes that the value can have, nil if that was not recorded, or cannot be.
        var valueLimit: Int? {
            attributes[ItemLayout.lengthName].flatMap { Int($0) }.flatMap { limit in
                (0...SecretServiceDriver.largestValueSize).contains(limit) ? limit : nil
            }
        }
    }
#endif
