// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import KeychainAPI
    import SwiftKeychain

    extension CommandRun {
        /// `compact`: rewrites the file without garbage.
        func compact(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let sizes = try await file.call(.update) { (driver, call) throws(KeychainError) in
                try driver.compact(call)
            }
            try printJSON(["before": .number(Int64(sizes.before)), "after": .number(Int64(sizes.after))])
            if !wantsJSON, isTalkative {
                note("\(file.driver.location) had \(sizes.before) bytes, and has \(sizes.after) now")
            }
            return .done
        }

        /// `check`: prints what is wrong with the file.
        func check(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let bar = progressBar
            defer { bar.clear() }
            let report = try await file.call(.info) { (driver, call) throws(KeychainError) in
                try driver.check(call) { bar.show("Checking", $0, of: $1) }
            }
            bar.clear()
            try print(report, "\(Self.items(report.itemCount)) intact")
            if let rollback = report.rollback { throw rollback }
            return report.damages.isEmpty ? .done : .damaged
        }

        /// `repair`: saves what is intact into a new file.
        func repair(_ file: OpenedFile) async throws(KeychainError) -> ExitCode {
            let location = file.driver.location
            guard let path = FileStorePath.path(of: location) else { throw notAFile(file.driver) }
            let target = parsed.value("output") ?? path + ".repaired"
            guard target != "-" else {
                throw KeychainError(
                    .invalidParameter,
                    "A keychain file is not printed. Name a file, as in -o ./new.keychain."
                )
            }
            let bar = progressBar
            defer { bar.clear() }
            let report = try await file.call(.update) { (driver, call) throws(KeychainError) in
                try driver.repair(to: target, call) { bar.show("Checking", $0, of: $1) }
            }
            bar.clear()
            try print(report, "\(Self.items(report.itemCount)) saved in \(target)")
            note(
                report.isWhole
                    ? "Nothing was wrong with \(location)."
                    : "\(location) is as it was. If the new file will do, put it in its place with mv."
            )
            return report.lost.isEmpty && !report.isIncomplete && report.rollback == nil ? .done : .damaged
        }

        private func print(_ report: FileReport, _ summary: String) throws(KeychainError) {
            var rows = [["ok", "", summary]]
            var objects: [[String: JSONValue]] = [["status": .text("ok"), "items": .number(Int64(report.itemCount))]]
            for (status, damages) in [("mendable", report.mendable), ("damaged", report.damages)] {
                for damage in damages {
                    rows.append([status, "\(damage.offset)+\(damage.count)", damage.finding])
                    objects.append([
                        "status": .text(status), "offset": .number(Int64(damage.offset)),
                        "length": .number(Int64(damage.count)),
                        "finding": .text(damage.finding),
                    ])
                }
            }
            if report.rollback != nil {
                let text = "the file is older than when it was last seen here"
                rows.append(["former", "", text])
                objects.append(["status": .text("former"), "finding": .text(text)])
            }
            for (status, records) in [("lost", report.lost), ("doubtful", report.doubtful)] {
                for details in records.map(ItemDetails.init).sorted(by: { $0.creationDate < $1.creationDate }) {
                    let fields = [
                        SelectorOptions.word(for: details.itemClass), details.name, details.text(.account),
                        details.text(.label),
                    ]
                    let title = fields.filter { !$0.isEmpty }.joined(separator: ", ")
                    rows.append([status, details.reference.uuidString, title])
                    objects.append(JSONLine.object(details).merging(["status": .text(status)]) { $1 })
                }
            }
            if report.stuckByteCount > 0 {
                let text =
                    "\(report.stuckByteCount) bytes of what was removed or replaced are not cleared away as long as a value "
                    + "is damaged: store the lost items anew, or remove them"
                rows.append(["growing", "", text])
                objects.append([
                    "status": .text("growing"), "bytes": .number(Int64(report.stuckByteCount)), "finding": .text(text),
                ])
            }
            if report.isIncomplete {
                let text = "there may have been items of which nothing is left"
                rows.append(["unknown", "", text])
                objects.append(["status": .text("unknown"), "finding": .text(text)])
            }
            try printRows(["STATUS", "PLACE", "FINDING"], rows, objects)
        }
    }
#endif
