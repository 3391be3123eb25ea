// SPDX-License-Identifier: MIT
#if SecretService
    import CLibsecret
    import CSecretSession
    import KeychainAPI

    /// A value of a message.
    ///
    /// Unchecked because of the pointer: a GVariant is immutable and its reference count atomic.
    final class Variant: @unchecked Sendable {
        let pointer: OpaquePointer

        /// Takes over a reference, also a floating one.
        ///
        /// - Parameter pointer: What GLib returned, which is NULL only for a variant of the wrong type.
        init(_ pointer: OpaquePointer?) {
            self.pointer = glib.g_variant_take_ref(pointer)!
        }

        deinit {
            glib.g_variant_unref(pointer)
        }

        // MARK: Building

        static func string(_ text: String) -> Variant { Variant(glib.g_variant_new_string(text)) }
        static func objectPath(_ path: String) -> Variant { Variant(glib.g_variant_new_object_path(path)) }
        static func boolean(_ flag: Bool) -> Variant { Variant(glib.g_variant_new_boolean(flag ? 1 : 0)) }
        static func unsigned32(_ number: UInt32) -> Variant { Variant(glib.g_variant_new_uint32(number)) }

        /// Bytes, `ay`.
        static func bytes(_ bytes: UnsafeRawBufferPointer) -> Variant {
            let type = glib.g_variant_type_new("y")
            defer { glib.g_variant_type_free(type) }
            return Variant(glib.g_variant_new_fixed_array(type, bytes.baseAddress, gsize(bytes.count), 1))
        }

        /// A value in the box that D-Bus calls a variant.
        static func boxed(_ value: Variant) -> Variant { Variant(glib.g_variant_new_variant(value.pointer)) }

        static func tuple(_ values: [Variant]) -> Variant {
            var children = values.map { Optional($0.pointer) }
            return Variant(glib.g_variant_new_tuple(&children, gsize(children.count)))
        }

        static func objectPaths(_ paths: [String]) -> Variant {
            array("o", paths.map(objectPath))
        }

        /// Lookup attributes, `a{ss}`.
        ///
        /// - Throws: `invalidParameter` for NUL, which would end a C string and so change what is looked for.
        static func attributes(_ attributes: LookupAttributes) throws(KeychainError) -> Variant {
            for pair in attributes.pairs where pair.value.utf8.contains(0) || pair.name.utf8.contains(0) {
                throw KeychainError(.invalidParameter, "An attribute contains NUL, which no keyring can keep.")
            }
            return array("{ss}", attributes.pairs.map { entry(string($0.name), string($0.value)) })
        }

        /// Properties, `a{sv}`.
        static func properties(_ properties: [(String, Variant)]) -> Variant {
            array("{sv}", properties.map { entry(string($0.0), boxed($0.1)) })
        }

        private static func entry(_ key: Variant, _ value: Variant) -> Variant {
            Variant(glib.g_variant_new_dict_entry(key.pointer, value.pointer))
        }

        private static func array(_ elementType: String, _ values: [Variant]) -> Variant {
            let type = glib.g_variant_type_new(elementType)
            defer { glib.g_variant_type_free(type) }
            var children = values.map { Optional($0.pointer) }
            return Variant(glib.g_variant_new_array(type, &children, gsize(children.count)))
        }

        /// Whether a text can be an object path.
        static func isObjectPath(_ text: String) -> Bool {
            !text.utf8.contains(0) && glib.g_variant_is_object_path(text) != 0
        }

        // MARK: Reading

        var type: String { String(cString: glib.g_variant_get_type_string(pointer)!) }

        /// The elements of an array, a structure, a dictionary entry or a box.
        var children: [Variant] {
            (0..<glib.g_variant_n_children(pointer)).map { Variant(glib.g_variant_get_child_value(pointer, $0)) }
        }

        subscript(index: Int) -> Variant { Variant(glib.g_variant_get_child_value(pointer, gsize(index))) }

        /// A string or an object path, `""` for anything else.
        var text: String {
            guard ["s", "o"].contains(type) else { return "" }
            var count: gsize = 0
            guard let start = glib.g_variant_get_string(pointer, &count) else { return "" }
            return String(cString: start)
        }

        /// A truth value, false for anything else.
        var flag: Bool { type == "b" && glib.g_variant_get_boolean(pointer) != 0 }

        /// A number of 32 or 64 bits without a sign, 0 for anything else.
        var unsigned: UInt64 {
            switch type {
            case "t": UInt64(glib.g_variant_get_uint64(pointer))
            case "u": UInt64(glib.g_variant_get_uint32(pointer))
            default: 0
            }
        }

        /// Bytes, none for anything else.
        var secureBytes: SecureBytes {
            guard type == "ay" else { return SecureBytes(count: 0) { _ in } }
            var count: gsize = 0
            let start = glib.g_variant_get_fixed_array(pointer, &count, 1)
            return SecureBytes(UnsafeRawBufferPointer(start: start, count: Int(count)))
        }

        /// What is in a box.
        var unboxed: Variant { type == "v" ? Variant(glib.g_variant_get_variant(pointer)) : self }

        /// The texts of an array.
        var texts: [String] { type == "ao" || type == "as" ? children.map(\.text) : [] }

        /// The lookup attributes of an `a{ss}`, nil for anything else.
        var lookupAttributes: LookupAttributes? {
            guard type == "a{ss}" else { return nil }
            var attributes = LookupAttributes()
            for pair in children { attributes[pair[0].text] = pair[1].text }
            return attributes
        }
    }
#endif
