// SPDX-License-Identifier: MIT
#if SecretService
    import KeychainAPI

    /// What has to be done to take back the steps of a commit that fails.
    ///
    /// A step is noted before it is taken, since it may be done even if it fails; taking back what was not done does
    /// nothing.
    struct UndoLog {
        /// The least time that taking back may take.
        private static let leastPatience = Duration.seconds(2)

        enum Step {
            /// An item was created.
            case created(StoredItem)
            /// An item was created in the place of another one, which had the value.
            case replaced(StoredItem, by: StoredItem, SecureBytes)
            /// The attributes of an item were changed.
            case attributesChanged(StoredItem)
            /// The value of an item was changed.
            case secretChanged(StoredItem, SecureBytes)
            /// An item was deleted.
            case deleted(StoredItem, SecureBytes)
        }

        /// Whether single steps are noted.
        ///
        /// A commit of one mutation needs none: nothing comes after its last step.
        let isNeeded: Bool
        private let start = ContinuousClock.now
        private var steps: [Step] = []

        init(isNeeded: Bool) {
            self.isNeeded = isNeeded
        }

        mutating func append(_ step: Step) {
            steps.append(step)
        }

        /// Takes back every step, the last one first.
        ///
        /// In a call of its own: the one that failed may have been cancelled or have run out of time. It may take as
        /// long again: a service that hangs must not keep who set a deadline waiting for what it does not do anyway.
        ///
        /// - Returns: The error, which says so if something could not be taken back.
        func roll(back reader: SecretServiceReader, _ error: KeychainError) -> KeychainError {
            let limit = ServiceSession.writeLimit
            let patience = reader.call.deadline.map { min(limit, max(Self.leastPatience, $0 - start)) } ?? limit
            let writer = ItemWriter(
                reader.again(CallContext(reader.call.operation, timeout: patience, interaction: .never))
            )
            var isComplete = true
            for step in steps.reversed() {
                do {
                    try Self.take(back: step, writer)
                } catch {
                    isComplete = false
                }
            }
            if isComplete { return error }
            return KeychainError(
                error.code,
                "\(error.message) A part of the change could not be taken back; look at the items before you try "
                    + "again.",
                underlying: error.underlying
            )
        }

        private static func take(back step: Step, _ writer: ItemWriter) throws(KeychainError) {
            switch step {
            case .created(let item):
                for copy in try writer.find(item) { _ = try writer.delete(copy) }
            case .replaced(let old, by: let new, let bytes):
                let copies = try writer.find(new).filter { $0.path != old.path }
                // Whether the old one was deleted may not be known: never delete the last one.
                if !copies.isEmpty { try writer.restore(old, bytes) }
                for copy in copies { _ = try writer.delete(copy) }
            case .attributesChanged(let item):
                try writer.setAttributes(item.attributes, of: item)
            case .secretChanged(let item, let bytes):
                try writer.setSecret(bytes, of: item)
            case .deleted(let item, let bytes):
                try writer.restore(item, bytes)
            }
        }
    }
#endif
