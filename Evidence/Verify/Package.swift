// swift-tools-version: 6.2
import PackageDescription

// The product's sources, reached through symlinks, compiled with stand-ins for Apple's frameworks: so their decisions can
// be run on Linux. A separate package, because a target named SwiftUI or Combine would make `canImport` true for
// all other targets, and because only a root package may use unsafe flags.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let standIns: [SwiftSetting] =
    settings + [
        .define("STANDINS"),
        .unsafeFlags(
            ["Combine=OpenCombineShim", "SwiftUI=SwiftUIStandIn", "Security=SecurityStandIn"].flatMap {
                ["-module-alias", $0]
            }
        ),
    ]

let combine = Target.Dependency.product(name: "OpenCombineShim", package: "OpenCombine")

let package = Package(
    name: "Verify",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0")],
    targets: [
        .target(name: "CPreferences"),
        .target(name: "SwiftUIStandIn", swiftSettings: settings),
        .target(
            name: "Preferences",
            dependencies: ["CPreferences", "SwiftUIStandIn", combine],
            exclude: ["PrivacyInfo.xcprivacy"],
            swiftSettings: standIns
        ),
        .target(name: "PreferencesSchema", dependencies: ["Preferences"], swiftSettings: standIns),
        .target(
            name: "PreferencesEditing",
            dependencies: ["PreferencesSchema", "Preferences", "SwiftUIStandIn"],
            swiftSettings: standIns
        ),
        .target(name: "PreferencesCloud", dependencies: ["Preferences"], swiftSettings: standIns),
        .target(name: "PreferencesInspection", dependencies: ["Preferences"], swiftSettings: standIns),
        .target(name: "SecurityStandIn", swiftSettings: settings),
        .target(
            name: "PreferencesKeyring",
            dependencies: ["Preferences", "SecurityStandIn"],
            swiftSettings: standIns
        ),
        .target(name: "PreferencesTesting", dependencies: ["CPreferences", "Preferences"], swiftSettings: standIns),
        // The app of Examples.
        .target(name: "PlayerApp", dependencies: ["Preferences", "SwiftUIStandIn"], swiftSettings: standIns),
        // The work that SwiftUI does for each view with a preference, for `make instructions`.
        .executableTarget(
            name: "view-operations",
            dependencies: ["Preferences", "SwiftUIStandIn"],
            path: "Sources/ViewOperations",
            swiftSettings: standIns
        ),
        .testTarget(
            name: "VerifyTests",
            dependencies: [
                "Preferences", "PreferencesEditing", "PreferencesCloud", "PreferencesInspection", "PreferencesTesting",
                "PreferencesKeyring", "PlayerApp", "SwiftUIStandIn", "SecurityStandIn", combine,
            ],
            swiftSettings: standIns
        ),
    ],
    swiftLanguageModes: [.v6]
)
