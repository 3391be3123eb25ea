// SPDX-License-Identifier: MIT
#if File
    import BackendFile
    import Foundation
    import KeychainAPI

    /// Does everything that writes to a file, by chance, until it is killed.
    struct Mixer {
        private let driver: FileDriver
        private let prefix: String
        private let key: KeySource
        /// What opens the slot that this process adds; nobody else has it.
        private let ownKey = KeySource.material(.key(SecureBytes(Data((0..<32).map { _ in .random(in: 0...255) }))))
        private var random: UInt64
        /// The key slot that this process added, nil if it has none.
        private var slot: Int?
        private var number = 0

        init(_ driver: FileDriver, prefix: String, seed: UInt64, key: String) {
            self.driver = driver
            self.prefix = prefix
            self.key = .keyFile(key)
            random = seed
            number = Int(seed) * 100_000
        }

        mutating func run() throws(KeychainError) {
            while true {
                number += 1
                let account = "\(prefix)-\(next(6))"
                switch next(40) {
                case 0:
                    try upkeep("compact") { (mixer) throws(KeychainError) in
                        try mixer.driver.compact(CallContext(.store))
                    }
                case 1:
                    try upkeep("rotate") { (mixer) throws(KeychainError) in
                        try mixer.driver.rotate([mixer.key], CallContext(.store))
                    }
                case 2...4: try upkeep("slot") { (mixer) throws(KeychainError) in try mixer.changeSlots() }
                case 5...10: try remove(account)
                default: try put(account)
                }
            }
        }

        private mutating func put(_ account: String) throws(KeychainError) {
            let count = [0, 10, 600, 5000, 20_000][next(5)]
            say("try put \(account) \(number)")
            try driver.put(account, Data("\(number) ".utf8) + Data(repeating: 0x2E, count: count))
            say("did put \(account) \(number)")
        }

        private mutating func remove(_ account: String) throws(KeychainError) {
            say("try remove \(account) 0")
            try driver.write(CallContext(.remove)) { (writer) throws(KeychainError) in
                let found = try writer.records(RecordSelection(record(account).primaryKey))
                try writer.commit(found.map { .delete($0) })
            }
            say("did remove \(account) 0")
        }

        private mutating func changeSlots() throws(KeychainError) {
            if let slot {
                self.slot = nil
                if next(2) == 0 { try driver.changeKey(slot, to: ownKey, CallContext(.store)) }
                try driver.removeKey(slot, CallContext(.store))
            } else {
                slot = try driver.addKey(ownKey, CallContext(.store)).number
            }
        }

        /// What another process may make impossible: it rewrites the file or removes the slot just then.
        private mutating func upkeep(
            _ name: String,
            _ body: (inout Mixer) throws(KeychainError) -> Void
        ) throws(KeychainError) {
            say("try \(name)")
            do throws(KeychainError) {
                try body(&self)
            } catch  where [.invalidParameter, .unsupported, .busy, .unavailable].contains(error.code) {
                slot = nil
            }
            say("did \(name)")
        }

        /// A number below a limit (SplitMix64).
        private mutating func next(_ limit: UInt64) -> Int {
            random &+= 0x9E37_79B9_7F4A_7C15
            var mixed = random
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % limit)
        }
    }
#endif
