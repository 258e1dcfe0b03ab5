// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-preferences", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "tour",
            dependencies: ["SettingsReport", .product(name: "Preferences", package: "swift-preferences")]
        ),
        .executableTarget(
            name: "player",
            dependencies: [.product(name: "Preferences", package: "swift-preferences")]
        ),
        .target(
            name: "SettingsReport",
            dependencies: [.product(name: "Preferences", package: "swift-preferences")]
        ),
        // A modular app: the feature sees only the interface; only the storage has names, defaults and stores.
        .target(
            name: "DashboardInterface",
            dependencies: [.product(name: "Preferences", package: "swift-preferences")]
        ),
        .target(
            name: "DashboardStorage",
            dependencies: ["DashboardInterface", .product(name: "Preferences", package: "swift-preferences")]
        ),
        .target(name: "DashboardFeature", dependencies: ["DashboardInterface"]),
        .testTarget(name: "DashboardTests", dependencies: ["DashboardFeature", "DashboardStorage", "SettingsReport"]),
    ],
    swiftLanguageModes: [.v6]
)

// An app of SwiftUI screens. On Linux the package Verify runs its views over a mock of SwiftUI.
#if os(macOS)
package.targets.append(
    .executableTarget(
        name: "PlayerApp",
        dependencies: [.product(name: "Preferences", package: "swift-preferences")]
    )
)
#endif
