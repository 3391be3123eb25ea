// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

/// The same settings for every Swift target, so that no target is held to a lower bar.
let swiftSettings: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
    .enableUpcomingFeature("InferIsolatedConformances"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0481-weak-let.md
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let package = Package(
    name: "swift-keychain",
    products: [
        .library(name: "KeychainAPI", targets: ["KeychainAPI"]),
        .library(name: "BackendMemory", targets: ["BackendMemory"]),
        .library(name: "BackendFile", targets: ["BackendFile"]),
        .library(name: "BackendSecretService", targets: ["BackendSecretService"]),
        .library(name: "KeychainConformance", targets: ["KeychainConformance"]),
        .library(name: "KeychainTesting", targets: ["KeychainTesting"]),
        .library(name: "KeychainX509", targets: ["KeychainX509"]),
        .library(name: "KeychainImport", targets: ["KeychainImport"]),
        .library(name: "KeychainArchive", targets: ["KeychainArchive"]),
        .library(name: "KeychainAuthentication", targets: ["KeychainAuthentication"]),
        .library(name: "SwiftKeychain", targets: ["SwiftKeychain"]),
        .executable(name: "keychainctl", targets: ["keychainctl"]),
    ],
    traits: [
        .trait(
            name: "SecretService",
            description:
                "The driver for GNOME Keyring, KWallet and KeePassXC; needs libsecret-1-dev and libglib2.0-dev."
        ),
        .trait(
            name: "File",
            description:
                "The driver for the encrypted flat file, archives and application passwords; needs libsodium-dev."
        ),
        .trait(
            name: "X509",
            description: "Keys, certificates, identities and PKCS#12; needs libssl-dev."
        ),
        .default(enabledTraits: ["SecretService", "File", "X509"]),
    ],
    targets: [
        // The contract: items, queries, verbs, errors, the driver protocol and the registry. No backend, no C library.
        .target(name: "KeychainAPI"),

        // What drivers and the command share of the operating system: locks between processes, private folders.
        .target(name: "KeychainSystem", dependencies: ["KeychainAPI"]),

        // What the file driver and application passwords ask of libsodium.
        .target(
            name: "KeychainSodium",
            dependencies: ["KeychainAPI", .target(name: "CSodium", condition: .when(traits: ["File"]))]
        ),

        // The drivers.
        .target(name: "BackendMemory", dependencies: ["KeychainAPI", "KeychainSystem"]),
        .target(
            name: "BackendFile",
            dependencies: [
                "KeychainAPI", "KeychainSystem", .target(name: "KeychainSodium", condition: .when(traits: ["File"])),
            ]
        ),
        .target(
            name: "BackendSecretService",
            dependencies: [
                "KeychainAPI", "KeychainSystem",
                .target(name: "CLibsecret", condition: .when(traits: ["SecretService"])),
                .target(name: "CSecretSession", condition: .when(traits: ["SecretService"])),
            ]
        ),

        // Keys, certificates, identities and PKCS#12, which are items like any other.
        .target(
            name: "KeychainX509",
            dependencies: [
                "KeychainAPI", .target(name: "COpenSSL", condition: .when(traits: ["X509"])),
                .target(name: "COpenSSLFunctions", condition: .when(traits: ["X509"])),
            ]
        ),

        // Who confirms that an item may be read, and passwords that encrypt items of their own.
        .target(
            name: "KeychainAuthentication",
            dependencies: [
                "KeychainAPI", "KeychainSystem", .target(name: "KeychainSodium", condition: .when(traits: ["File"])),
            ],
            // Installed by the administrator, not read by the library.
            exclude: ["Resources"]
        ),

        // A backup, or what goes from one machine to another: items in one encrypted file.
        .target(
            name: "KeychainArchive",
            dependencies: [
                "KeychainAPI", "KeychainSystem", .target(name: "KeychainSodium", condition: .when(traits: ["File"])),
            ]
        ),

        // What people have today: the output of secret-tool, stores of pass, and whole collections.
        .target(name: "KeychainImport", dependencies: ["KeychainAPI", "KeychainSystem"]),

        // The C seam: one system library target per C library, and the one piece of C that libsecret's types need.
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "COpenSSL",
            // Its functions are found when they are first needed (COpenSSLFunctions), so that nothing links with it.
            pkgConfig: "\(Context.packageDirectory)/Sources/COpenSSL/openssl-headers.pc",
            providers: [.apt(["libssl-dev"])]
        ),
        .target(
            name: "COpenSSLFunctions",
            dependencies: [.target(name: "COpenSSL", condition: .when(traits: ["X509"]))],
            cSettings: [.define("KEYCHAIN_X509", .when(traits: ["X509"]))]
        ),
        .systemLibrary(
            name: "CLibsecret",
            // Its functions are found when they are first needed (CSecretSession), so that nothing links with it.
            pkgConfig: "\(Context.packageDirectory)/Sources/CLibsecret/libsecret-headers.pc",
            providers: [.apt(["libsecret-1-dev", "libglib2.0-dev"])]
        ),
        .target(
            name: "CSecretSession",
            dependencies: [.target(name: "CLibsecret", condition: .when(traits: ["SecretService"]))],
            cSettings: [.define("KEYCHAIN_SECRET_SERVICE", .when(traits: ["SecretService"]))]
        ),

        // What the command needs to know or to ask of its process, and Swift cannot.
        .target(name: "CProcess"),

        // The umbrella: the only place that knows every driver.
        .target(
            name: "SwiftKeychain",
            dependencies: [
                "KeychainAPI", "KeychainSystem", "KeychainArchive", "KeychainAuthentication", "KeychainImport",
                "BackendMemory",
                .target(name: "BackendFile", condition: .when(traits: ["File"])),
                .target(name: "BackendSecretService", condition: .when(traits: ["SecretService"])),
            ]
        ),

        // What the two kits share: a driver that lets a watcher see, and fail, what is asked of another one.
        .target(name: "KeychainSpy", dependencies: ["KeychainAPI"]),

        // The conformance kit, for the authors of drivers.
        .target(name: "KeychainConformance", dependencies: ["KeychainAPI", "KeychainSystem", "KeychainSpy"]),

        // The kit for the tests of applications. It imports Testing, so nothing but tests may depend on it.
        .target(
            name: "KeychainTesting",
            dependencies: [
                "SwiftKeychain", "KeychainAPI", "KeychainSpy", "BackendMemory",
                .target(name: "BackendFile", condition: .when(traits: ["File"])),
            ]
        ),

        // The command: everything that can be tested in a library, and a main that calls it.
        .target(
            name: "KeychainCommand",
            dependencies: [
                "SwiftKeychain", "KeychainArchive", "KeychainAuthentication", "KeychainConformance", "KeychainSystem",
                "CProcess",
                .target(name: "KeychainX509", condition: .when(traits: ["X509"])),
            ]
        ),
        .executableTarget(name: "keychainctl", dependencies: ["KeychainCommand"]),

        // Measures the library and its peers side by side. No product, and no test: Scripts/benchmarks runs it.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "KeychainAPI", "BackendMemory", "SecretServiceFixture",
                .target(name: "KeychainX509", condition: .when(traits: ["X509"])),
                .target(name: "BackendFile", condition: .when(traits: ["File"])),
                .target(name: "CSodium", condition: .when(traits: ["File"])),
                .target(name: "BackendSecretService", condition: .when(traits: ["SecretService"])),
                .target(name: "CLibsecret", condition: .when(traits: ["SecretService"])),
            ],
            path: "Benchmarks",
            linkerSettings: [
                .linkedLibrary("secret-1", .when(traits: ["SecretService"])),
                .linkedLibrary("glib-2.0", .when(traits: ["SecretService"])),
                .linkedLibrary("gobject-2.0", .when(traits: ["SecretService"])),
            ]
        ),

        // What tests share: a GNOME Keyring of its own for each test. No product.
        .target(name: "SecretServiceFixture", path: "Tests/SecretServiceFixture"),

        // What tests share: type-checks Swift text against the built modules. No product.
        .target(name: "SnippetCompiler", path: "Tests/SnippetCompiler"),

        .testTarget(name: "KeychainAPITests", dependencies: ["KeychainAPI", "KeychainSystem", "BackendMemory"]),
        .testTarget(name: "KeychainSystemTests", dependencies: ["KeychainSystem", "KeychainAPI"]),
        .testTarget(
            name: "CompileFailTests",
            dependencies: ["KeychainAPI", "SnippetCompiler"],
            exclude: ["Snippets"]
        ),
        // Compiles the code of the documentation; it depends on what that imports, so that it is built.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "SnippetCompiler", "SwiftKeychain", "KeychainX509", "KeychainAuthentication", "KeychainConformance",
                "KeychainImport", "KeychainTesting",
            ]
        ),
        .testTarget(name: "BackendMemoryTests", dependencies: ["BackendMemory"]),
        .testTarget(
            name: "BackendFileTests",
            dependencies: [
                "BackendFile", "BackendMemory", "KeychainSodium", "KeychainSystem", "KeychainAPI", "FileWriterTool",
                "FileFuzzer",
            ],
            exclude: ["Fixtures", "Reader"]
        ),
        // A process of its own that tests of the file driver start, kill and run as another user.
        .executableTarget(
            name: "FileWriterTool",
            dependencies: ["BackendFile", "KeychainAPI"],
            path: "Tests/Tools/file-writer"
        ),
        // Gives the reader of files made-up bytes; Scripts/fuzz builds it with libFuzzer.
        .executableTarget(
            name: "FileFuzzer",
            dependencies: ["BackendFile", "KeychainAPI", "KeychainSodium", "KeychainSystem"],
            path: "Tests/Fuzzing",
            exclude: ["Corpus"]
        ),
        .testTarget(
            name: "BackendSecretServiceTests",
            dependencies: ["BackendSecretService", "KeychainSystem", "SecretServiceFixture"]
        ),
        .testTarget(
            name: "KeychainCommandTests",
            dependencies: [
                "KeychainCommand", "SwiftKeychain", "KeychainAuthentication", "KeychainConformance", "KeychainSystem",
                "keychainctl",
                "SecretServiceFixture",
            ],
            exclude: ["Snapshots", "Support/basic-auth-server.py"]
        ),
        .testTarget(
            name: "KeychainImportTests",
            dependencies: [
                "KeychainImport", "KeychainAPI", "KeychainSystem", "BackendMemory", "SecretServiceFixture",
                .target(name: "BackendSecretService", condition: .when(traits: ["SecretService"])),
            ]
        ),
        .testTarget(
            name: "KeychainArchiveTests",
            dependencies: [
                "KeychainArchive", "KeychainAuthentication", "KeychainSodium", "KeychainSystem", "KeychainAPI",
                "BackendMemory", "BackendFile",
            ],
            exclude: ["Fixtures", "Reader"]
        ),
        .testTarget(
            name: "KeychainX509Tests",
            dependencies: ["KeychainX509", "KeychainAPI", "BackendMemory"]
        ),
        .testTarget(
            name: "KeychainAuthenticationTests",
            dependencies: [
                "KeychainAuthentication", "KeychainSodium", "KeychainAPI", "KeychainSystem", "BackendMemory",
                "BackendFile", "AuthenticationTool",
            ],
            exclude: ["agent.py"]
        ),
        // A process of a user without privileges that asks polkit.
        .executableTarget(
            name: "AuthenticationTool",
            dependencies: ["KeychainAuthentication", "KeychainAPI"],
            path: "Tests/Tools/authenticate"
        ),
        // What the Apple-side libraries show in their documentation, written for this one.
        .testTarget(name: "SeedParityTests", dependencies: ["SwiftKeychain", "KeychainAPI", "BackendMemory"]),
        .testTarget(name: "KeychainTestingTests", dependencies: ["KeychainTesting", "SwiftKeychain"]),
        .testTarget(name: "SwiftKeychainTests", dependencies: ["SwiftKeychain", "KeychainSystem"]),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "KeychainConformance", "KeychainX509", "KeychainAuthentication", "SwiftKeychain", "KeychainSystem",
                "ConformanceWorkerTool", "SecretServiceFixture",
            ],
            path: "ConformanceTests",
            exclude: ["Worker"]
        ),
        // The other processes of the conformance tests.
        .executableTarget(
            name: "ConformanceWorkerTool",
            dependencies: ["KeychainConformance", "SwiftKeychain"],
            path: "ConformanceTests/Worker"
        ),
    ],
    swiftLanguageModes: [.v6]
)

let targetsInC = ["CSecretSession", "COpenSSLFunctions", "CProcess"]
for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + swiftSettings
}
