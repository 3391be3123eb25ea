// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "library-example",
    products: [.library(name: "NotesClient", targets: ["NotesClient"])],
    dependencies: [
        .package(name: "swift-keychain", path: "../..", traits: ["File", "SecretService"])
    ],
    targets: [
        .target(name: "NotesClient", dependencies: [.product(name: "SwiftKeychain", package: "swift-keychain")]),
        .testTarget(name: "NotesClientTests", dependencies: ["NotesClient"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
