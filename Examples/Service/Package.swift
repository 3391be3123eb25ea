// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "service-example",
    dependencies: [
        .package(name: "swift-keychain", path: "../..", traits: ["File", "SecretService"])
    ],
    targets: [
        .executableTarget(name: "app", dependencies: [.product(name: "SwiftKeychain", package: "swift-keychain")]),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "app",
                // The other process, which stores and replaces the token.
                .product(name: "keychainctl", package: "swift-keychain"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
