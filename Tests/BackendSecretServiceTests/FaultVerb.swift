// SPDX-License-Identifier: MIT
#if SecretService
    import Foundation
    import KeychainAPI
    import SecretServiceFixture

    /// A call of a verb, of which it is known what it says and does when nothing goes wrong.
    enum FaultVerb: CaseIterable, Sendable {
        case add, addExisting, replaceValue, replace, comment, both, rename, commentAll, remove, removeAll
        case retrieve, retrieveAll, info, contains, containsMissing

        /// What a call says.
        enum Answer {
            /// What is so, or that a change was made.
            case right
            /// That there is nothing where there was something.
            case nothing
            /// Something else.
            case wrong
        }

        /// Whether it changes nothing.
        var isReading: Bool {
            switch self {
            case .retrieve, .retrieveAll, .info, .contains, .containsMissing: true
            default: false
            }
        }

        /// Whether it is about every item, rather than bob's.
        var isForAll: Bool { [.commentAll, .removeAll, .retrieveAll].contains(self) }

        /// Whether it asks for a locked collection to be opened; not all that do are needed to see how.
        var asksWhenLocked: Bool { [.retrieve, .replaceValue, .remove].contains(self) }

        private static func query(_ account: String? = nil) -> SecItemQuery<GenericPassword> {
            var query = SecItemQuery<GenericPassword>.credential(for: "svc")
            query.account = account
            return query
        }

        /// Calls it.
        func run(_ keychain: Keychain) throws(KeychainError) -> Answer {
            var query = Self.query("bob")
            var changes = SecItemUpdate<GenericPassword>()
            switch self {
            case .add: try keychain.store("new", query: Self.query("ada"))
            case .addExisting:
                do throws(KeychainError) {
                    try keychain.store("new", query: query)
                    return .wrong
                } catch .duplicateItem {}
            case .replaceValue: try keychain.store("new", query: query, ifExists: .replaceValue)
            case .replace:
                query.comment = "x"
                try keychain.store("new", query: query, ifExists: .replace)
            case .comment:
                changes.comment = "x"
                try keychain.update(query, changes)
            case .both:
                changes.comment = "x"
                changes.setValue("new")
                try keychain.update(query, changes)
            case .rename:
                changes.account = "carl"
                try keychain.update(query, changes)
            case .commentAll:
                changes.comment = "x"
                try keychain.update(Self.query(), changes)
            case .remove: return try keychain.remove(query) ? .right : .nothing
            case .removeAll: return try keychain.remove(Self.query()) ? .right : .nothing
            case .retrieve:
                guard let value = try keychain.retrieve(query) as String? else { return .nothing }
                return value == "old" ? .right : .wrong
            case .retrieveAll:
                let values = try keychain.retrieveAll(.data, query: Self.query())
                if values.isEmpty { return .nothing }
                return values == [.data(Data("old".utf8)), .data(Data("other".utf8))] ? .right : .wrong
            case .info:
                guard let info = try keychain.info(for: query) else { return .nothing }
                return info.account == "bob" && info.comment == nil ? .right : .wrong
            case .contains: return try keychain.contains(query) ? .right : .nothing
            case .containsMissing: return try keychain.contains(Self.query("zoe")) ? .wrong : .right
            }
            return .right
        }

        /// What is there afterwards.
        func changed(_ state: FaultState) -> FaultState {
            var state = state
            switch self {
            case .add: state["ada"] = .init(value: "new")
            case .replaceValue: state["bob"]?.value = "new"
            case .replace, .both: state["bob"] = .init(value: "new", comment: "x")
            case .comment: state["bob"]?.comment = "x"
            case .rename:
                state["carl"] = state["bob"]
                state["bob"] = nil
            case .commentAll:
                state["bob"]?.comment = "x"
                state["eve"]?.comment = "x"
            case .remove: state["bob"] = nil
            case .removeAll: state.entries = [:]
            default: break
            }
            return state
        }
    }

    /// The items of a store, by account.
    struct FaultState: Equatable, CustomStringConvertible {
        struct Entry: Equatable {
            var value: String
            var comment: String?
        }

        /// Before every trial.
        static let base = FaultState(entries: ["bob": Entry(value: "old"), "eve": Entry(value: "other", comment: "c")])

        var entries: [String: Entry]
        /// Which accounts have two items.
        var doubles: Set<String> = []

        init(entries: [String: Entry]) {
            self.entries = entries
        }

        init(_ items: [FaultyService.Item]) {
            entries = [:]
            for item in items {
                let account = item.attributes["username"] ?? "?"
                if entries[account] != nil { doubles.insert(account) }
                entries[account] = Entry(
                    value: String(decoding: item.secret, as: UTF8.self),
                    comment: item.attributes["keychain.comment"]
                )
            }
        }

        subscript(account: String) -> Entry? {
            get { entries[account] }
            set { entries[account] = newValue }
        }

        /// Stores them.
        func store(_ keychain: Keychain) throws(KeychainError) {
            for (account, entry) in entries.sorted(by: { $0.key < $1.key }) {
                var query = SecItemQuery<GenericPassword>.credential(for: "svc")
                query.account = account
                query.comment = entry.comment
                try keychain.store(entry.value, query: query)
            }
        }

        /// Whether all that is here is the same there.
        func isPart(of other: FaultState) -> Bool {
            doubles.isEmpty && entries.allSatisfy { other[$0.key] == $0.value }
        }

        /// Whether each item is as in one of two states, and none is missing that is in both.
        func isMade(of one: FaultState, _ other: FaultState) -> Bool {
            entries.allSatisfy { $0.value == one[$0.key] || $0.value == other[$0.key] }
                && one.entries.keys.allSatisfy { entries[$0] != nil || other[$0] == nil }
        }

        var description: String {
            entries.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.value)/\($0.value.comment ?? "-")" }
                .joined(separator: " ") + (doubles.isEmpty ? "" : " doubles: \(doubles.sorted())")
        }
    }
#endif
