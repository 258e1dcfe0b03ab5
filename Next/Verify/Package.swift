// swift-tools-version: 6.2
import PackageDescription

// As Evidence/Verify, over the new core: Apple's part with stand-ins for Apple's frameworks, so that its decisions run on Linux.

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
            ["Combine=OpenCombineShim", "SwiftUI=SwiftUIStandIn"].flatMap { ["-module-alias", $0] }
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
            swiftSettings: standIns
        ),
        .target(name: "PreferencesCloud", dependencies: ["Preferences"], swiftSettings: standIns),
        .target(name: "PreferencesSchema", dependencies: ["Preferences"], swiftSettings: standIns),
        .target(
            name: "PreferencesEditing",
            dependencies: ["PreferencesSchema", "Preferences", "SwiftUIStandIn"],
            swiftSettings: standIns
        ),
        .target(name: "PreferencesTesting", dependencies: ["CPreferences", "Preferences"], swiftSettings: standIns),
        // The parts of the replaced module that tests use.
        .target(name: "DurableFile", dependencies: ["Preferences"], swiftSettings: standIns),
        .testTarget(
            name: "VerifyTests",
            dependencies: [
                "Preferences", "PreferencesEditing", "PreferencesCloud", "PreferencesTesting", "DurableFile",
                "SwiftUIStandIn",
                combine,
            ],
            swiftSettings: standIns
        ),
    ],
    swiftLanguageModes: [.v6]
)
