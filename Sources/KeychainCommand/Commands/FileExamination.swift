// SPDX-License-Identifier: MIT
#if File
    import FoundationEssentials
    import Glibc
    import KeychainAPI
    import KeychainSystem
    import SwiftKeychain

    // The encrypted file that a person has named.
    extension Examination {
        /// Its permissions, those of its folder, what is in it, and whether a former state of it would be noticed.
        var namedFile: [Finding] {
            guard case .success(let choice) = choice, choice.url.driver == .file, !choice.url.path.isEmpty,
                survey.contains(where: { $0.identifier == .file })
            else { return [] }
            let source = knownSource
            let options = StoreOptions(keySource: source, creation: .never, permissions: permissions)
            let driver: FileDriver
            do throws(KeychainError) {
                driver = try FileDriver(path: choice.url.path, options: options, environment: environment)
            } catch {
                return [Finding(.problem, "store file", error.message)]
            }
            guard let path = FileStorePath.path(of: driver.location) else { return [] }
            let file = secretFile(path, "store file", missing: .note)
            let isReadable = FileStorePath.exists(path) && file.status != .problem
            return [file, Self.storeFolder(path, permissions)].compactMap { $0 }
                + (isReadable ? [contents(of: driver, hasKey: source != nil)] : [])
                + [Self.memory(FileDriver.seenFolder(environment: environment))]
        }

        /// What unlocks the file, if it can be read without asking, waiting for or starting anything.
        var knownSource: KeySource? {
            guard let keySource, key.allSatisfy({ $0.status != .problem }),
                let source = try? KeySource(parsing: keySource)
            else { return nil }
            switch source {
            case .environment: return source
            case .file(let path), .keyFile(let path): return Self.isRegular(path) ? source : nil
            case .credential(let name):
                return Self.isRegular("\(environment["CREDENTIALS_DIRECTORY"] ?? "")/\(name)") ? source : nil
            case .prompt, .fileDescriptor, .store, .material: return nil
            }
        }

        private static func isRegular(_ path: String) -> Bool {
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }

        /// A folder that others may write to: they can put another file in the place of the store.
        private static func storeFolder(_ path: String, _ permissions: StoreOptions.Permissions) -> Finding? {
            let folder = parent(of: path)
            var status = stat()
            guard stat(folder, &status) == 0 else { return nil }
            let mode = "‘\(folder)’ has the mode \(String(status.st_mode & 0o7777, radix: 8))"
            guard status.st_mode & 0o022 != 0 else {
                return Finding(.ok, "store folder", "\(mode); others cannot write to it.")
            }
            guard status.st_mode & S_ISVTX == 0 else {
                return Finding(.ok, "store folder", "\(mode); others cannot replace what is yours there.")
            }
            return Finding(
                permissions == .ownerOnly ? .problem : .note,
                "store folder",
                "\(mode); others can put another file in the place of the store.",
                remedy: "Close it: chmod go-w '\(folder)'"
            )
        }

        private static func parent(of path: String) -> String {
            path.parentPath ?? "/"
        }

        private func contents(of driver: FileDriver, hasKey: Bool) -> Finding {
            let subject = "store contents"
            do throws(KeychainError) {
                guard hasKey else {
                    _ = try driver.keySlots()
                    return Finding(
                        .note,
                        subject,
                        "The head of the file is intact. The rest cannot be judged without its key.",
                        remedy: "Give one that can be read without asking: --key"
                    )
                }
                let report = try driver.check(call)
                if let rollback = report.rollback { return Finding(.problem, subject, rollback.message) }
                let items = report.itemCount == 1 ? "1 item is" : "\(report.itemCount) items are"
                guard report.damages.isEmpty else {
                    let growth = report.stuckByteCount > 0 ? " It keeps growing until that is mended." : ""
                    return Finding(
                        .problem,
                        subject,
                        "The file is damaged; \(items) intact.\(growth)",
                        remedy: "See what is lost: keychainctl check"
                    )
                }
                return Finding(.ok, subject, "\(items) intact.")
            } catch {
                return Finding(.problem, subject, error.message)
            }
        }

        /// Whether it can be remembered what was seen of the file.
        private static func memory(_ folder: String?) -> Finding {
            let subject = "seen states"
            let loss = "A former state that someone puts in the place of the store is not noticed"
            guard let folder else {
                return Finding(
                    .note,
                    subject,
                    "\(loss): there is no folder to remember it in, neither XDG_STATE_HOME nor HOME is set.",
                    remedy: "Let XDG_STATE_HOME name a folder that lasts."
                )
            }
            // The first one that is there; those below it would be made.
            var existing = folder
            while access(existing, F_OK) != 0, errno == ENOENT, existing != "/" {
                existing = parent(of: existing)
            }
            guard access(existing, W_OK | X_OK) == 0 else {
                return Finding(
                    .note,
                    subject,
                    "\(loss): ‘\(existing)’: \(String(cString: strerror(errno))).",
                    remedy: "Make it a folder that you can write to, or let XDG_STATE_HOME name another one."
                )
            }
            return Finding(.ok, subject, "What was seen of the store is remembered in ‘\(folder)’.")
        }
    }
#endif
