// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "ported-app-example",
    dependencies: [
        .package(name: "swift-keychain", path: "../..", traits: ["File", "SecretService"])
    ],
    targets: [
        .executableTarget(name: "logins", dependencies: [.product(name: "SwiftKeychain", package: "swift-keychain")]),
        .testTarget(name: "LoginsTests", dependencies: ["logins"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
