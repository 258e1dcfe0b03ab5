// swift-tools-version: 6.2
import PackageDescription

// The core that replaces the folders Stores, Contents, Backends and Delivery and the module DurableFile, beside the code that stays,
// which is reached through symlinks. A separate package, because its module has the same name.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "swift-preferences-next",
    platforms: [.macOS(.v15)],
    // For the package `Etcd`.
    products: [
        "CPreferences", "Preferences", "PreferencesSchema", "PreferencesValidation", "PreferencesTesting",
        "DurableFile", "FileTestSupport", "TestSupport",
    ].map { .library(name: $0, targets: [$0]) },
    targets: [
        .target(name: "CPreferences"),
        .target(name: "Preferences", dependencies: ["CPreferences"], swiftSettings: settings),
        .target(name: "PreferencesSchema", dependencies: ["Preferences"], swiftSettings: settings),
        .target(
            name: "PreferencesEditing",
            dependencies: ["Preferences", "PreferencesSchema"],
            swiftSettings: settings
        ),
        .target(name: "PreferencesValidation", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "PreferencesTesting", dependencies: ["CPreferences", "Preferences"], swiftSettings: settings),
        .target(name: "PreferencesFoundation", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "PreferencesKeyring", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "FileTestSupport", swiftSettings: settings),
        .target(name: "DurableFile", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "PreferencesTests",
            dependencies: [
                "Preferences", "PreferencesSchema", "PreferencesEditing", "PreferencesValidation", "PreferencesTesting",
                "DurableFile", "FileTestSupport", "TestSupport", "KillWriter", "PlaceProbe", "IsolationProbe",
                "ForkProbe",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "KillWriter",
            dependencies: ["Preferences"],
            path: "Tests/KillWriter",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PlaceProbe",
            dependencies: ["Preferences"],
            path: "Tests/PlaceProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ForkProbe",
            dependencies: ["Preferences"],
            path: "Tests/ForkProbe",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "IsolationProbe",
            dependencies: ["Preferences"],
            path: "Tests/IsolationProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesTestingTests",
            dependencies: ["Preferences", "PreferencesTesting", "DurableFile", "FileTestSupport", "TestSupport"],
            swiftSettings: settings
        ),
        .target(name: "KeyringTestSupport", path: "Tests/KeyringTestSupport", swiftSettings: settings),
        .executableTarget(
            name: "KeyringProbe",
            dependencies: ["PreferencesKeyring", "Preferences", "DurableFile"],
            path: "Tests/KeyringProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesKeyringTests",
            dependencies: [
                "KeyringProbe", "KeyringTestSupport", "FileTestSupport",
                "PreferencesKeyring", "PreferencesEditing", "PreferencesTesting", "Preferences", "DurableFile",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "laws",
            dependencies: ["Preferences", "PreferencesTesting", "FileTestSupport"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
