// SPDX-License-Identifier: MIT
#if File && SecretService
    import CLibsecret

    extension LibsecretFile {
        /// Measures libsecret in this process, whose environment names its file, and prints the times in nanoseconds:
        /// a line with those of stores, and one with those of lookups.
        static func child(_ arguments: [String]) throws {
            guard arguments.count == 2, let count = Int(arguments[0]), let rounds = Int(arguments[1]) else {
                throw BenchmarkError("The child needs a number of items and of rounds.")
            }
            let types = g_hash_table_new(g_str_hash, g_str_equal)
            for name in ["service", "account"] { g_hash_table_insert(types, strdup(name), nil) }
            let schema = secret_schema_newv("org.example.Benchmark", SECRET_SCHEMA_NONE, types)
            let secret = String(repeating: "x", count: Sample.value.count)
            let stores = try (0..<count).map { number in
                try measure { error in
                    secret_password_storev_sync(
                        schema,
                        attributes(number),
                        SECRET_COLLECTION_DEFAULT,
                        "label",
                        secret,
                        nil,
                        error
                    ) != 0
                }
            }
            let lookups = try (0..<rounds).map { round in
                let wanted = attributes(Sample.spread(round, over: count))
                return try measure { error in
                    let found = secret_password_lookupv_sync(schema, wanted, nil, error)
                    defer { secret_password_free(found) }
                    return found != nil
                }
            }
            // The last stores: those at the full size.
            for times in [Array(stores.suffix(rounds)), lookups] {
                print(times.map { "\(Int($0))" }.joined(separator: " "))
            }
        }

        private static func attributes(_ number: Int) -> OpaquePointer? {
            let table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
            g_hash_table_insert(table, g_strdup("service"), g_strdup(Sample.service(number)))
            g_hash_table_insert(table, g_strdup("account"), g_strdup(Sample.account(number)))
            return table
        }

        private static func measure(
            _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Bool
        ) throws -> Double {
            var error: UnsafeMutablePointer<GError>?
            let start = ContinuousClock.now
            let isDone = body(&error)
            let elapsed = ContinuousClock.now - start
            guard isDone else {
                throw BenchmarkError(error.map { String(cString: $0.pointee.message) } ?? "libsecret found nothing.")
            }
            return elapsed / .nanoseconds(1)
        }
    }
#endif
