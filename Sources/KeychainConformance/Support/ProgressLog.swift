// SPDX-License-Identifier: MIT

import KeychainAPI
import Synchronization

/// What a call has told of its progress.
final class ProgressLog: Sendable {
    private let steps = Mutex<[MigrationProgress]>([])

    func add(_ progress: MigrationProgress) {
        steps.withLock { $0.append(progress) }
    }

    /// Expects every phase to go forward to its end, one after the other, and no other one.
    func expect(_ phases: [MigrationProgress.Phase], of total: Int) throws {
        let all = steps.withLock { $0 }
        for phase in phases {
            let steps = all.filter { $0.phase == phase }
            try KeychainConformance.expect(steps.count >= 2, "\(phase) is told more than once")
            try KeychainConformance.expect(steps.allSatisfy { $0.total == total }, "\(phase) knows how many there are")
            try KeychainConformance.expect(steps.last?.completed == total, "\(phase) ends")
            try KeychainConformance.expect(
                zip(steps, steps.dropFirst()).allSatisfy { $0.completed < $1.completed },
                "\(phase) goes on"
            )
        }
        var order: [MigrationProgress.Phase] = []
        for step in all where step.phase != order.last { order.append(step.phase) }
        try KeychainConformance.expect(order == phases, "The phases are in their order")
    }
}
