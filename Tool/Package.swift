// swift-tools-version: 6.2
// A separate package, so that users of the library don't resolve or build the tool's dependencies.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "prefs",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "prefs", targets: ["prefs"]),
        .executable(name: "prefs-serve", targets: ["prefs-serve"]),
        .executable(name: "prefs-parse-plist", targets: ["prefs-parse-plist"]),
    ],
    traits: [
        .trait(name: "Etcd", description: "`prefs --etcd`: suites on an etcd cluster.")
    ],
    dependencies: [
        .package(
            name: "swift-preferences",
            path: "..",
            traits: [.trait(name: "Etcd", condition: .when(traits: ["Etcd"]))]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(name: "prefs", dependencies: ["PrefsCommands"], swiftSettings: settings),
        .target(
            name: "PrefsCommands",
            dependencies: [
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "PreferencesSchema", package: "swift-preferences"),
                .product(name: "PreferencesInspection", package: "swift-preferences"),
                .product(
                    name: "PreferencesEtcd",
                    package: "swift-preferences",
                    condition: .when(traits: ["Etcd"])
                ),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        // Separate, so that an attack on the page reaches only a program that serves it.
        .executableTarget(
            name: "prefs-serve",
            dependencies: [
                "PrefsCommands",
                .product(name: "Preferences", package: "swift-preferences"),
            ],
            resources: [.embedInCode("Page")],
            swiftSettings: settings
        ),
        // Separate, as Foundation's parser of property lists crashes on some damaged files, which must not end the tool.
        .executableTarget(
            name: "prefs-parse-plist",
            dependencies: [
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "PreferencesFoundation", package: "swift-preferences"),
                .product(name: "PreferencesInspection", package: "swift-preferences"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PrefsTests",
            dependencies: [
                "prefs", "prefs-serve", "prefs-parse-plist", "PrefsCommands",
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "PreferencesSchema", package: "swift-preferences"),
            ],
            exclude: ["Transcripts"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
