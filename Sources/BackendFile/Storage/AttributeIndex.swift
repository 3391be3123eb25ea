// SPDX-License-Identifier: MIT
#if File
    import KeychainAPI
    import Synchronization

    /// Which entries have which value of an attribute; made for an attribute when a query first asks for it.
    ///
    /// A class, because a reader makes it who has only a view of the store; no writer changes one that has another owner.
    final class AttributeIndex: Sendable {
        /// The attributes that are worth it, the most telling first.
        static let names: [AttributeName] = [
            .service, .server, .applicationLabel, .applicationTag, .publicKeyHash, .serialNumber, .subject, .issuer,
            .label, .account,
        ]

        private let chains: Mutex<[AttributeName: AttributeChains]>

        /// Makes an empty index.
        init() {
            chains = Mutex([:])
        }

        /// Makes an index with what another one has.
        init(copying other: AttributeIndex) {
            chains = Mutex(other.chains.withLock { $0 })
        }

        /// The attributes that have been asked for.
        var names: [AttributeName] { chains.withLock { Array($0.keys) } }

        /// The entries whose value of an attribute has a hash, and perhaps others.
        ///
        /// - Parameters:
        ///   - hash: The hash.
        ///   - name: The attribute.
        ///   - make: Makes what is missing of the index.
        func entries<Failure: Error>(
            _ hash: UInt64,
            of name: AttributeName,
            _ make: () throws(Failure) -> AttributeChains
        ) throws(Failure) -> [Int] {
            try chains.withLock { (chains) throws(Failure) in
                if chains[name] == nil { chains[name] = try make() }
                return chains[name]?.entries(hash) ?? []
            }
        }

        /// Takes up an entry.
        func insert(_ entry: Int, _ hash: UInt64, of name: AttributeName) {
            chains.withLock { $0[name]?.insert(entry, hash) }
        }

        /// Forgets an entry.
        func remove(_ entry: Int, _ hash: UInt64, of name: AttributeName) {
            chains.withLock { $0[name]?.remove(entry, hash) }
        }
    }

    /// The entries of each hash, as lists whose links lie in two arrays.
    struct AttributeChains: Sendable {
        private var heads = HashTable()
        /// By entry: the next and the previous one of the list; -1 at its ends.
        private var links: [(next: Int32, previous: Int32)] = []

        /// The entries of a hash.
        func entries(_ hash: UInt64) -> [Int] {
            var entries: [Int] = []
            var entry = Int32(heads.first(hash) { _ in true } ?? -1)
            while entry >= 0 {
                entries.append(Int(entry))
                entry = links[Int(entry)].next
            }
            return entries
        }

        /// Takes up an entry.
        mutating func insert(_ entry: Int, _ hash: UInt64) {
            while links.count <= entry { links.append((-1, -1)) }
            let head = heads.first(hash) { _ in true }
            if let head {
                heads.remove(hash, head)
                links[head].previous = Int32(entry)
            }
            links[entry] = (Int32(head ?? -1), -1)
            heads.insert(hash, entry)
        }

        /// Forgets an entry that was taken up.
        mutating func remove(_ entry: Int, _ hash: UInt64) {
            let (next, previous) = links[entry]
            if next >= 0 { links[Int(next)].previous = previous }
            if previous >= 0 {
                links[Int(previous)].next = next
            } else {
                heads.remove(hash, entry)
                if next >= 0 { heads.insert(hash, Int(next)) }
            }
        }
    }
#endif
