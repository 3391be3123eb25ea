// SPDX-License-Identifier: MIT
#if SecretService

    /// The attributes of an item as the service keeps them: names with texts, compared byte by byte.
    ///
    /// Not a `Dictionary<String, String>`: Swift's strings are equal when they are canonically equivalent, the
    /// service's when their bytes are.
    struct LookupAttributes: Sendable {
        private(set) var pairs: [(name: String, value: String)] = []

        /// The value of a name, nil if it is not set.
        subscript(name: String) -> String? {
            get {
                pairs.first { $0.name.hasSameBytes(as: name) }?.value
            }
            set {
                let index = pairs.firstIndex { $0.name.hasSameBytes(as: name) }
                switch (index, newValue) {
                case (let index?, let value?): pairs[index].value = value
                case (let index?, nil): pairs.remove(at: index)
                case (nil, let value?): pairs.append((name, value))
                case (nil, nil): break
                }
            }
        }

        var isEmpty: Bool { pairs.isEmpty }

        /// The attributes without those that KeePassXC shows of an item and keeps elsewhere.
        ///
        /// Its identity and its place in the database cannot be written, and searching for its identity would find
        /// that one item only; its title is the label.
        var withoutServersOwn: LookupAttributes {
            let own = ["Uuid", "Path", "Title"]
            guard own.allSatisfy({ self[$0] != nil }) else { return self }
            var attributes = self
            for name in own { attributes[name] = nil }
            return attributes
        }

        /// Whether the service holds the attributes of a locked item as hashes (GNOME Keyring).
        var areHashed: Bool { pairs.contains { $0.name.hasPrefix(Self.hashedPrefix) } }

        /// Whether a name is there, be it hashed.
        func hasName(_ name: String) -> Bool {
            self[name] != nil || self[Self.hashedPrefix + name] != nil
        }

        private static let hashedPrefix = "gkr:compat:hashed:"
    }

    extension LookupAttributes: ExpressibleByDictionaryLiteral {
        init(dictionaryLiteral elements: (String, String)...) {
            for (name, value) in elements { self[name] = value }
        }
    }

    extension LookupAttributes: Equatable {
        /// Compares byte by byte; the order does not count.
        static func == (left: LookupAttributes, right: LookupAttributes) -> Bool {
            left.pairs.count == right.pairs.count
                && left.pairs.allSatisfy { pair in right[pair.name].map { $0.hasSameBytes(as: pair.value) } ?? false }
        }
    }

    extension String {
        /// Whether two texts have the same UTF-8 bytes, which canonically equivalent ones need not have.
        func hasSameBytes(as other: String) -> Bool {
            utf8.elementsEqual(other.utf8)
        }
    }
#endif
