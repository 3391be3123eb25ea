// SPDX-License-Identifier: MIT

import BackendMemory
import KeychainAPI
import KeychainSpy
import Synchronization

/// Writes down what is asked of the store of a test, and lets happen to it what the test has injected.
final class CallRecorder: CallWatcher {
    let faults = FaultScript()
    /// The contexts are kept, so that none can have the address of an earlier one.
    private let entries = Mutex<[(context: CallContext, call: RecordedCall)]>([])

    var calls: [RecordedCall] { entries.withLock { $0.map(\.call) } }

    func clear() {
        entries.withLock { $0 = [] }
    }

    var addedCapabilities: DriverCapabilities { faults.playsLocking ? .locking : [] }

    func pass(_ stage: CallStage, _ call: CallContext) throws(KeychainError) {
        switch stage {
        case .read, .write:
            record(call) { _ in }
            try faults.meet(call)
        case .search(let selection):
            record(call) { $0.selections.append(selection) }
        case .value(let record):
            self.record(call) { $0.readings.append(record) }
            try faults.meetValue(call)
        case .commit(let mutations):
            record(call) { $0.changes += mutations.map(RecordedCall.Change.init) }
        }
    }

    func lock(_ call: CallContext) throws(KeychainError) -> Bool {
        record(call) { _ in }
        return try faults.lock(call)
    }

    func unlock(_ call: CallContext) throws(KeychainError) -> Bool {
        record(call) { _ in }
        return try faults.unlock(call)
    }

    /// A verb may ask a driver several times; its context makes it one call.
    private func record(_ context: CallContext, _ change: (inout RecordedCall) -> Void) {
        entries.withLock { entries in
            let known = entries.lastIndex { $0.context === context }
            if known == nil { entries.append((context, RecordedCall(operation: context.operation))) }
            change(&entries[known ?? entries.count - 1].call)
        }
    }
}
