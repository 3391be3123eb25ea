// SPDX-License-Identifier: MIT

import FoundationEssentials
import Glibc
import KeychainAPI
import KeychainSystem
import SwiftKeychain

extension Examination {
    /// What there is of the Secret Service, if the command was built with it.
    var service: [Finding] {
        #if SecretService
            guard survey.contains(where: { $0.identifier == "secret-service" }) else { return [] }
            do throws(KeychainError) {
                return findings(in: try SecretServiceReport(environment: environment, call)) + clearKeyrings
            } catch {
                return [Finding(error.code == .unavailable ? .note : .problem, "bus address", error.message)]
                    + clearKeyrings
            }
        #else
            []
        #endif
    }

    /// The keyring files of GNOME Keyring that are in clear text, which those without a password are.
    private var clearKeyrings: [Finding] {
        let data = environment["XDG_DATA_HOME"].flatMap { $0.isAbsolutePath ? $0 : nil }
        guard let data = data ?? environment["HOME"].map({ $0 + "/.local/share" }) else { return [] }
        let folder = data + "/keyrings"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().filter { $0.hasSuffix(".keyring") }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard Self.isInClear(path) else { return nil }
            return Finding(
                .problem,
                "clear keyring",
                "‘\(path)’ has no password: everything in it is in clear text, for whoever can read the file.",
                remedy: "Give the keyring a password in Seahorse (Passwords and Keys)."
            )
        }
    }

    /// Whether a keyring's file begins as one in clear text does; an encrypted one begins with `GnomeKeyring`.
    private static func isInClear(_ path: String) -> Bool {
        let mark = Array("[keyring]".utf8)
        var head = [UInt8](repeating: 0, count: mark.count)
        guard let file = try? FileDescriptor(path, O_RDONLY | O_NONBLOCK, action: "") else { return false }
        return retryingInterruptions { read(file.number, &head, head.count) } == head.count && head == mark
    }
}

#if SecretService
    extension Examination {
        private func findings(in report: SecretServiceReport) -> [Finding] {
            var findings = [Finding(.ok, "bus address", "\(report.busAddress) answers.")]
            guard let provider = report.provider else {
                let message = "No program provides org.freedesktop.secrets at the moment"
                findings.append(
                    report.isActivatable
                        ? Finding(.ok, "secret service", "\(message); one is started when it is first used.")
                        : Finding(
                            .note,
                            "secret service",
                            "\(message), and none can be started.",
                            remedy: "Install and start one, for example the package gnome-keyring."
                        )
                )
                return findings
            }
            let version = provider.version.map { " (package version \($0))" } ?? ""
            let process = provider.processIdentifier.map { ", process \($0)" } ?? ""
            let path = provider.executable.map { ", \($0)" } ?? ""
            findings.append(
                Finding(.ok, "secret service", "\(provider.name)\(version) provides it\(process)\(path).")
            )
            if let trouble = report.trouble {
                findings.append(Finding(.problem, "collections", trouble.message))
                return findings
            }
            findings += report.collections.map { collection in
                let state = collection.isLocked ? "is locked" : "is unlocked"
                let title = collection.label.isEmpty ? collection.path : "‘\(collection.label)’ (\(collection.path))"
                return Finding(
                    collection.isLocked ? .note : .ok,
                    "collection",
                    "\(title) \(state)\(collection.isDefault ? ", and is the default one" : "").",
                    remedy: collection.isLocked ? "To unlock it: \(Self.unlocking(collection))" : ""
                )
            }
            if !report.collections.contains(where: \.isDefault) {
                findings.append(
                    Finding(
                        .problem,
                        "default collection",
                        "There is none, so that secret-service: names no store.",
                        remedy: "To create one: keychainctl init --store secret-service:"
                    )
                )
            }
            return findings
        }

        private static func unlocking(_ collection: SecretServiceReport.Collection) -> String {
            let name = collection.isDefault ? "" : collection.path
            return "keychainctl unlock --store secret-service:\(name)"
        }
    }
#endif
