// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "driver-example",
    products: [.library(name: "JSONFileDriver", targets: ["JSONFileDriver"])],
    dependencies: [
        // A driver needs no trait; they are those of the other examples, so that all share what is compiled.
        .package(name: "swift-keychain", path: "../..", traits: ["File", "SecretService"])
    ],
    targets: [
        .target(name: "JSONFileDriver", dependencies: [.product(name: "KeychainAPI", package: "swift-keychain")]),
        // The other processes of the conformance suite.
        .executableTarget(
            name: "JSONDriverWorker",
            dependencies: [
                "JSONFileDriver", .product(name: "KeychainAPI", package: "swift-keychain"),
                .product(name: "KeychainConformance", package: "swift-keychain"),
            ]
        ),
        .testTarget(
            name: "JSONFileDriverTests",
            dependencies: [
                "JSONFileDriver", "JSONDriverWorker", .product(name: "KeychainAPI", package: "swift-keychain"),
                .product(name: "KeychainConformance", package: "swift-keychain"),
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
