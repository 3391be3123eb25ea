// SPDX-License-Identifier: MIT
#if File
    /// A place of a keychain file that is not as it was written.
    public struct FileDamage: Sendable, Hashable {
        /// Where the place begins, in bytes.
        public let offset: UInt64
        /// How long it is, in bytes.
        public let count: UInt64
        /// What was found there, as a clause.
        public let finding: String

        init(offset: UInt64, count: UInt64, finding: String) {
            self.offset = offset
            self.count = count
            self.finding = finding
        }
    }
#endif
