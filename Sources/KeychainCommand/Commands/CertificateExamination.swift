// SPDX-License-Identifier: MIT

import FoundationEssentials
import KeychainAPI
import SwiftKeychain

#if SecretService
    import BackendSecretService
#endif

extension CommandRun {
    /// The certificates of the chosen store that have expired, or soon will; as long as the store can be read without
    /// asking, unlocking or starting anything.
    func certificates(_ examination: Examination) -> [Finding] {
        guard let keychain = readableStore(examination) else { return [] }
        var query = SecItemQuery<SecCertificate>()
        query.synchronizable = .any
        guard let items = try? keychain.retrieveAll([.data, .info], query: query) else { return [] }
        var summaries: [CertificateSummary] = []
        do throws(KeychainError) {
            for value in items.compactMap({ $0.details?.value }) {
                if let summary = try CertificateSummary(value) { summaries.append(summary) }
            }
        } catch {
            return [Finding(.note, "certificates", error.message)]
        }
        let now = Date()
        let findings = summaries.compactMap { Self.finding($0, now) }
        guard findings.isEmpty, !summaries.isEmpty else { return findings }
        let count = summaries.count == 1 ? "1 certificate is" : "\(summaries.count) certificates are"
        return [Finding(.ok, "certificates", "\(count) valid for 30 days or more.")]
    }

    private static func finding(_ certificate: CertificateSummary, _ now: Date) -> Finding? {
        let name = "‘\(certificate.subject)’"
        if certificate.validUntil < now {
            return Finding(
                .problem,
                "certificate",
                "\(name) has expired on \(Timestamp.text(certificate.validUntil)).",
                remedy: "Import the one that replaces it: keychainctl import FILE"
            )
        }
        if certificate.validFrom > now {
            return Finding(.note, "certificate", "\(name) is valid from \(Timestamp.text(certificate.validFrom)) on.")
        }
        guard certificate.validUntil < now.addingTimeInterval(30 * 86_400) else { return nil }
        return Finding(
            .note,
            "certificate",
            "\(name) expires on \(Timestamp.text(certificate.validUntil)).",
            remedy: "Renew it, and then: keychainctl import FILE"
        )
    }

    /// The chosen store, if nothing has to be asked, unlocked or started to read it.
    private func readableStore(_ examination: Examination) -> Keychain? {
        guard case .success(let choice) = examination.choice else { return nil }
        var options = StoreOptions(
            interaction: .never,
            creation: .never,
            permissions: examination.permissions,
            timeout: examination.call.remaining
        )
        switch choice.url.driver {
        #if File
            case .file:
                guard let source = examination.knownSource else { return nil }
                options.keySource = source
        #endif
        #if SecretService
            case "secret-service":
                guard
                    let report = try? SecretServiceReport(environment: environment, examination.call),
                    report.provider != nil, report.collections.contains(where: { !$0.isLocked })
                else { return nil }
        #endif
        default: return nil
        }
        guard let driver = try? registry.open(choice.url, options: options) else { return nil }
        return Keychain(
            driver: driver,
            accessGroup: parsed.value("group").map(AccessGroup.init(rawValue:)) ?? .default,
            timeout: examination.call.remaining,
            interaction: .never
        )
    }
}
