// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import KeychainConformance
import KeychainSystem

extension CommandRun {
    /// `conformance`: runs the conformance suite against a live store, one line for each check as it ends.
    func conformance() async throws(KeychainError) -> ExitCode {
        let settings = try settings()
        guard let text = parsed.value("store") else {
            throw KeychainError(
                .invalidParameter,
                "‘conformance’ needs to know which store to check. Name it, as in --store file:PATH."
            )
        }
        let url = try StoreURL(parsing: text)
        let options = try optionsForReopening(settings, url)
        let harness = LiveHarness(
            driver: try registry.open(url, options: options),
            interaction: settings.interaction,
            registry: registry,
            url: url,
            options: options
        )
        // A store that cannot be opened at all is told apart from one that does not keep the contract.
        _ = try await harness.makeKeychain().retrieve(.persistentReference, query: SecItemQuery<GenericPassword>())
        var hasFailed = false
        for check in ConformanceSuite.all {
            if let remaining = settings.remaining, remaining == .zero {
                throw KeychainError(.timedOut, "The checks took too long. Allow more time with --timeout.")
            }
            guard !Task.isCancelled else { throw KeychainError(.cancelled, "The command was interrupted.") }
            // Not on the main thread: checks make calls that wait for one another.
            let verdict = await Task.detached { await Verdict(of: check, on: harness) }.value
            hasFailed = hasFailed || verdict.status == .failed
            try io.print(wantsJSON ? JSONLine.line(verdict.object) : TextTable.tabSeparated([verdict.fields]))
        }
        return hasFailed ? .failed : .done
    }

    /// The options for opening the store again and again: what can be read or asked for only once is kept.
    private func optionsForReopening(_ settings: Settings, _ url: StoreURL) throws(KeychainError) -> StoreOptions {
        var options = options(settings, creation: .never)
        if let source = options.keySource {
            let material = try source.material(
                prompt: options.prompt,
                location: url.description,
                isNew: false,
                permissions: options.permissions,
                environment: environment
            )
            options.keySource = .material(material)
        }
        return options
    }
}

/// How one check ended, in words.
private struct Verdict {
    enum Status: String {
        case ok
        case failed
        case notApplicable = "not applicable"
    }

    let status: Status
    private let check: ConformanceCheck
    private let reason: String

    init(of check: ConformanceCheck, on harness: LiveHarness) async {
        self.check = check
        do throws(ConformanceFailure) {
            switch try await check.run(on: harness) {
            case .passed: (status, reason) = (.ok, "")
            case .notApplicable(let powers): (status, reason) = (.notApplicable, "this command cannot \(powers)")
            }
        } catch {
            (status, reason) = (.failed, "\(error.expectation) (\(error.fileID):\(error.line))")
        }
    }

    var fields: [String] { [status.rawValue, check.family.rawValue, check.name] + (reason.isEmpty ? [] : [reason]) }

    var object: [String: JSONValue] {
        [
            "status": .text(status.rawValue), "family": .text(check.family.rawValue), "check": .text(check.name),
            "reason": .text(reason),
        ]
    }
}

/// A store that is in use, in which each check has a group of its own.
private struct LiveHarness: ConformanceHarness {
    let driver: any KeychainDriver
    let interaction: InteractionPolicy
    let registry: DriverRegistry
    let url: StoreURL
    let options: StoreOptions

    var powers: HarnessPowers { .reopen }

    func makeKeychain() -> Keychain {
        let group = AccessGroup(rawValue: "keychainctl.conformance.\(UUID().uuidString)")
        return Keychain(driver: driver, accessGroup: group, interaction: interaction)
    }

    /// Nothing: the check has emptied its groups.
    func discard(_ keychain: Keychain) {}

    func reopen(_ keychain: Keychain) throws -> Keychain {
        Keychain(
            driver: try registry.open(url, options: options),
            accessGroup: keychain.accessGroup,
            interaction: interaction
        )
    }
}
