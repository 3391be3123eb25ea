// SPDX-License-Identifier: MIT

import KeychainAPI

// The commands that write items to a file, and read them from one.
extension CommandTable {
    #if X509 || File
        static let exchangeCommands: [CommandSpec] = [
            CommandSpec(
                name: "export",
                summary: "write items to a file",
                operands: .fileAndSelector(.any),
                options: [format, passphrase],
                discussion: [
                    "The form is that of the file's extension: .archive, .pem, .crt and .key, .der and .cer, .p12 and .pfx. FILE "
                        + "may be - for standard output. A file that exists is left as it is, and the exit status is 3.",
                    "An archive is everything that is selected, encrypted under a passphrase or key file of its own; on a "
                        + "terminal the passphrase is asked for twice. Without a selector it is the whole store, every group of "
                        + "it, unless --group names one.",
                    "For the other forms --class says what is exported. Of certificates and keys PEM takes all matches, DER "
                        + "one. An identity is its certificate and its key in PEM, or a PKCS#12 file with the certificates above "
                        + "it that are in the store.",
                    "A PKCS#12 file takes a passphrase. A private key in PEM or DER is encrypted if --passphrase is given, else "
                        + "it is in clear, in a file that only you can read.",
                    "Items that belong to this device only are left out, with a note.",
                ],
                exitCodes: [.done, .notFound, .duplicate] + storeFailures,
                run: { (run) throws(KeychainError) in try await run.export() }
            ),
            CommandSpec(
                name: "import",
                summary: "store the items of a file",
                operands: .words(["FILE"]),
                options: [format, passphrase, ifExists] + [label, tag].compactMap { $0 },
                discussion: [
                    "An archive, PEM, DER and PKCS#12 are told apart by what is in the file. FILE may be - for standard input. If "
                        + "the file is encrypted, its passphrase is asked for on a terminal, unless --passphrase is given.",
                    "All of the file is stored, or nothing, where the store can do that; else what was stored is told. What is "
                        + "there already with the same value stays as it is. Another value, or another certificate of the same "
                        + "issuer and serial number, is only replaced with --if-exists, else the exit status is 3.",
                    "Of an archive every item comes into the group that it was in, or all into that of --group. The items are new "
                        + "ones, with references and dates of their own.",
                    "--label is for the keys and for the certificate that belongs to them, or is the only one; --tag is for the "
                        + "keys. A certificate without a label gets its subject.",
                    "OpenSSH's own form of private keys is not read: ssh-keygen -p -m PKCS8 -f COPY converts a copy.",
                ],
                exitCodes: [.done, .duplicate] + storeFailures,
                run: { (run) throws(KeychainError) in try await run.importFile() }
            ),
        ]

        static let format: OptionSpec = .value(
            "format",
            ItemFileFormat.words.map(\.key).joined(separator: "|"),
            "the form of the file"
        )
        static let passphrase: OptionSpec = .value(
            "passphrase",
            "SOURCE",
            "where the passphrase of the file comes from; forms as for --key"
        )
        private static let label = AttributeOption.specs.first { $0.name == "label" }
        private static let tag = SelectorOptions.forms.first { $0.name == SelectorOptions.tag }
    #else
        static let exchangeCommands: [CommandSpec] = []
    #endif
}
