// swift-tools-version: 6.2
// The tests of the products beside `Preferences`, and of the documents. A separate package, like a client with all traits but
// OpenCombine, so that `swift test` of the library builds only what the library needs. What these tests need of the library and what it
// doesn't make public, they import as `@testable`.
import PackageDescription

let traits = ["ArgumentParser", "Configuration", "Etcd", "Macros"]

let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let settings = features + traits.map { .define($0) }

func preferences(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-preferences") }
}

let etcdClient: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

let package = Package(
    name: "ProductsTests",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-preferences", path: "../..", traits: Set(traits.map { .trait(name: $0) })),
        .package(
            url: "https://github.com/apple/swift-configuration.git",
            from: "1.0.0",
            traits: ["JSON", "Reloading"]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        // Those of the root package, through links.
        .target(name: "FileTestSupport", path: "FileTestSupport", swiftSettings: settings),
        .target(name: "TestSupport", path: "TestSupport", swiftSettings: settings),
        .target(name: "KeyringTestSupport", path: "KeyringTestSupport", swiftSettings: settings),
        .testTarget(
            name: "PreferencesKeyringTests",
            dependencies: ["FileTestSupport", "TestSupport", "KeyringTestSupport", "KeyringProbe"]
                + preferences("PreferencesKeyring", "Preferences", "PreferencesEditing", "PreferencesTesting"),
            path: "PreferencesKeyringTests",
            swiftSettings: settings
        ),
        // A separate program, as libsecret reads the address of the bus from the environment.
        .executableTarget(
            name: "KeyringProbe",
            dependencies: preferences("PreferencesKeyring", "Preferences"),
            path: "KeyringProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesFoundationTests",
            dependencies: ["FileTestSupport", "TestSupport", "UserDefaultsProbe"]
                + preferences("PreferencesFoundation", "Preferences"),
            path: "PreferencesFoundationTests",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "UserDefaultsProbe",
            dependencies: preferences("PreferencesFoundation", "Preferences"),
            path: "UserDefaultsProbe",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesConfigurationTests",
            dependencies: ["FileTestSupport", "TestSupport"]
                + preferences("PreferencesConfiguration", "Preferences", "PreferencesValidation", "PreferencesTesting")
                + [
                    .product(name: "Configuration", package: "swift-configuration"),
                    .product(name: "ConfigurationTesting", package: "swift-configuration"),
                ],
            path: "PreferencesConfigurationTests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesArgumentParserTests",
            dependencies: ["FileTestSupport", "TestSupport", "NotesProbe"]
                + preferences("PreferencesArgumentParser", "Preferences", "PreferencesTesting") + [
                    .product(name: "ArgumentParser", package: "swift-argument-parser")
                ],
            path: "PreferencesArgumentParserTests",
            exclude: ["Transcripts"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "NotesProbe",
            dependencies: preferences("PreferencesArgumentParser", "Preferences") + [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ],
            path: "NotesProbe",
            swiftSettings: settings
        ),
        // Groups that the macros declare; the expansions have a package of their own.
        .testTarget(
            name: "PreferencesMacrosTests",
            dependencies: preferences("PreferencesMacros", "Preferences", "PreferencesSchema", "PreferencesTesting"),
            path: "PreferencesMacrosTests",
            swiftSettings: settings
        ),
        .target(
            name: "EtcdTestSupport",
            dependencies: ["FileTestSupport"],
            path: "EtcdTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesEtcdTests",
            dependencies: ["FileTestSupport", "TestSupport", "EtcdTestSupport", "etcd-torture"]
                + preferences(
                    "PreferencesEtcd",
                    "Preferences",
                    "PreferencesSchema",
                    "PreferencesValidation",
                    "PreferencesTesting"
                ) + etcdClient + [
                    .product(name: "Logging", package: "swift-log"),
                    .product(name: "CoreMetrics", package: "swift-metrics"),
                    .product(name: "MetricsTestKit", package: "swift-metrics"),
                    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                ],
            path: "PreferencesEtcdTests",
            swiftSettings: settings
        ),
        // Experiments with real etcd clusters.
        .executableTarget(
            name: "etcd-torture",
            dependencies: ["EtcdTestSupport", "FileTestSupport"] + preferences("PreferencesEtcd", "Preferences")
                + etcdClient,
            path: "etcd-torture",
            swiftSettings: settings
        ),
        // The examples that need traits; their own packages would compile the library again for each set of traits.
        .executableTarget(
            name: "notes",
            dependencies: preferences("PreferencesArgumentParser", "Preferences") + [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ],
            path: "Examples/notes",
            swiftSettings: features
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: ["notes"] + preferences("PreferencesArgumentParser"),
            path: "Examples/NotesTests",
            swiftSettings: features
        ),
        .executableTarget(
            name: "greeter",
            dependencies: preferences("PreferencesConfiguration", "Preferences") + [
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            path: "Examples/greeter"
        ),
        .testTarget(name: "GreeterTests", dependencies: ["greeter"], path: "Examples/GreeterTests"),
        // The code in README.md and the guides, compiled and run.
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["FileTestSupport", "TestSupport"]
                + preferences(
                    "Preferences",
                    "PreferencesCloud",
                    "PreferencesEditing",
                    "PreferencesInspection",
                    "PreferencesSchema",
                    "PreferencesValidation",
                    "PreferencesTesting"
                ),
            path: "DocumentationTests",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
