// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A target with resources imports Foundation for them, which the library doesn't link on Linux. Whoever builds for Apple's
// platforms builds on macOS.
#if os(macOS)
let privacyManifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
let privacyManifest: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
    name: "swift-preferences",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Preferences", targets: ["Preferences"]),
        .library(name: "PreferencesTesting", targets: ["PreferencesTesting"]),
    ],
    traits: [
        .trait(name: "OpenCombine", description: "Publishers on platforms without Combine.")
    ],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        // For `swift package generate-documentation`. No target uses it, so whoever depends on this package never resolves it.
        .package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.5.0"),
    ],
    targets: [
        .target(name: "CDurableFile"),
        .target(name: "DurableFile", dependencies: ["CDurableFile"], swiftSettings: settings),
        .target(
            name: "Preferences",
            dependencies: [
                "DurableFile",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ],
            exclude: privacyManifest.exclude,
            resources: privacyManifest.resources,
            swiftSettings: settings
        ),
        .target(
            name: "PreferencesTesting",
            dependencies: ["Preferences", "DurableFile"],
            swiftSettings: settings
        ),
        .target(
            name: "FileTestSupport",
            dependencies: ["DurableFile"],
            path: "Tests/FileTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "DurableFileTests",
            dependencies: ["DurableFile", "FileTestSupport"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "KillWriter",
            dependencies: ["Preferences"],
            path: "Tests/KillWriter",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesTests",
            dependencies: [
                "Preferences", "DurableFile", "FileTestSupport", "KillWriter",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesTestingTests",
            dependencies: ["PreferencesTesting", "Preferences", "DurableFile", "FileTestSupport", "IsolationProbe"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "IsolationProbe",
            dependencies: ["Preferences"],
            path: "Tests/IsolationProbe",
            swiftSettings: settings
        ),
        // What README.md and the guide show, compiled and run.
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["Preferences", "PreferencesTesting"],
            swiftSettings: settings
        ),
        // Experiments with the file store under fire; in this package because they also use what is below its public face.
        .executableTarget(
            name: "torture",
            dependencies: ["Preferences", "DurableFile"],
            path: "Torture/Sources",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
