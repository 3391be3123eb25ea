// swift-tools-version: 6.2
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "desktop-example",
    dependencies: [
        .package(name: "swift-keychain", path: "../..", traits: ["File", "SecretService"])
    ],
    targets: [
        .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // What the window shows, without a window.
        .target(name: "DesktopModel", dependencies: [.product(name: "SwiftKeychain", package: "swift-keychain")]),
        .target(name: "DesktopWindow", dependencies: ["CGTK", "DesktopModel"]),
        .executableTarget(
            name: "desktop-example",
            dependencies: ["CGTK", "DesktopWindow", .product(name: "SwiftKeychain", package: "swift-keychain")]
        ),
        .testTarget(
            name: "DesktopModelTests",
            dependencies: ["DesktopModel", .product(name: "SwiftKeychain", package: "swift-keychain")]
        ),
        // Uses the window as a person does, on a display and a keyring of its own: the script ‘try’ starts it.
        .executableTarget(
            name: "DesktopTrial",
            dependencies: [
                "CGTK", "DesktopModel", "DesktopWindow", .product(name: "SwiftKeychain", package: "swift-keychain"),
            ],
            path: "Tests/DesktopTrial"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
