// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A target with resources imports Foundation for them, which the library doesn't link on Linux. Builds for Apple's platforms run on
// macOS.
#if os(macOS)
let privacyManifest: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
let privacyManifest: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

// Tests over Apple's own frameworks.
#if os(macOS)
let appleTests: [Target] = [
    .testTarget(
        name: "AppleTests",
        dependencies: ["Preferences", "PreferencesCloud", "PreferencesTesting"],
        swiftSettings: settings
    )
]
#else
let appleTests: [Target] = []
#endif

/// The packages for connections to etcd; only clients with the trait Etcd resolve them.
let etcdClient: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Etcd"])),
    .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Etcd"])),
    .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Etcd"])),
    .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Etcd"])),
    .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Etcd"])),
    .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Etcd"])),
    .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Etcd"])),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Etcd"])),
]

/// The package for the bridge to swift-configuration.
let configuration: [Target.Dependency] = [
    .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"]))
]

/// The package for command-line programs.
let argumentParser: [Target.Dependency] = [
    .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["ArgumentParser"]))
]

/// The packages for the implementation of the macros.
let syntax: [Target.Dependency] = [
    "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftCompilerPlugin",
]
.map { .product(name: $0, package: "swift-syntax", condition: .when(traits: ["Macros"])) }

let package = Package(
    name: "swift-preferences",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Preferences", targets: ["Preferences"]),
        .library(name: "PreferencesSchema", targets: ["PreferencesSchema"]),
        .library(name: "PreferencesEditing", targets: ["PreferencesEditing"]),
        .library(name: "PreferencesCloud", targets: ["PreferencesCloud"]),
        .library(name: "PreferencesValidation", targets: ["PreferencesValidation"]),
        .library(name: "PreferencesInspection", targets: ["PreferencesInspection"]),
        .library(name: "PreferencesTesting", targets: ["PreferencesTesting"]),
        .library(name: "PreferencesKeyring", targets: ["PreferencesKeyring"]),
        .library(name: "PreferencesFoundation", targets: ["PreferencesFoundation"]),
        .library(name: "PreferencesConfiguration", targets: ["PreferencesConfiguration"]),
        .library(name: "PreferencesArgumentParser", targets: ["PreferencesArgumentParser"]),
        .library(name: "PreferencesMacros", targets: ["PreferencesMacros"]),
        .library(name: "PreferencesEtcd", targets: ["PreferencesEtcd"]),
    ],
    traits: [
        .trait(name: "OpenCombine", description: "Publishers on platforms without Combine."),
        .trait(name: "Configuration", description: "A bridge to swift-configuration, both ways."),
        .trait(name: "ArgumentParser", description: "Options and a command for programs with swift-argument-parser."),
        .trait(name: "Macros", description: "Groups declared by a macro; builds swift-syntax."),
        .trait(name: "Etcd", description: "Stores that many machines share, on an etcd cluster."),
    ],
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        // The releases for Swift 6.0 and newer; a range, as all packages with macros must agree on one release.
        .package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"700.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(name: "CPreferences"),
        .target(
            name: "Preferences",
            dependencies: [
                "CPreferences",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ],
            exclude: privacyManifest.exclude,
            resources: privacyManifest.resources,
            swiftSettings: settings
        ),
        .target(name: "PreferencesSchema", dependencies: ["Preferences"], swiftSettings: settings),
        .target(
            name: "PreferencesEditing",
            dependencies: ["PreferencesSchema", "Preferences"],
            swiftSettings: settings
        ),
        .target(name: "PreferencesValidation", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "PreferencesCloud", dependencies: ["Preferences"], swiftSettings: settings),
        // What the tool `prefs` needs, which is a package of its own and so can't use what this one lends itself.
        .target(name: "PreferencesInspection", dependencies: ["Preferences"], swiftSettings: settings),
        .target(
            name: "PreferencesTesting",
            dependencies: ["CPreferences", "Preferences"],
            swiftSettings: settings
        ),
        // Separate, as it loads the desktop's libraries on Linux, and links Security on Apple's platforms.
        .target(name: "PreferencesKeyring", dependencies: ["Preferences"], swiftSettings: settings),
        .target(name: "KeyringTestSupport", path: "Tests/KeyringTestSupport", swiftSettings: settings),
        // Separate, as it imports all of Foundation, which doubles the start time of a program on Linux.
        .target(name: "PreferencesFoundation", dependencies: ["Preferences"], swiftSettings: settings),
        .target(
            name: "PreferencesConfiguration",
            dependencies: ["PreferencesSchema", "Preferences"] + configuration,
            swiftSettings: settings
        ),
        .target(
            name: "PreferencesArgumentParser",
            dependencies: ["Preferences"] + argumentParser,
            swiftSettings: settings
        ),
        .macro(name: "PreferencesMacrosPlugin", dependencies: syntax, swiftSettings: settings),
        .target(
            name: "PreferencesMacros",
            dependencies: ["Preferences", "PreferencesMacrosPlugin"],
            swiftSettings: settings
        ),
        // Without the trait, everything except connections to a server, which need the HTTP client.
        .target(
            name: "PreferencesEtcd",
            dependencies: ["PreferencesSchema", "Preferences"] + etcdClient,
            swiftSettings: settings
        ),
        .target(name: "FileTestSupport", path: "Tests/FileTestSupport", swiftSettings: settings),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
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
        .testTarget(
            name: "PreferencesTests",
            dependencies: [
                "Preferences", "PreferencesSchema", "PreferencesEditing", "PreferencesInspection",
                "PreferencesValidation", "PreferencesTesting", "PreferencesEtcd", "FileTestSupport",
                "TestSupport",
                "KillWriter", "PlaceProbe", "ForkProbe", "IsolationProbe", "laws",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesTestingTests",
            dependencies: [
                "PreferencesTesting", "Preferences", "FileTestSupport",
                "TestSupport",
                "IsolationProbe",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "IsolationProbe",
            dependencies: ["Preferences"],
            path: "Tests/IsolationProbe",
            swiftSettings: settings
        ),
        // The operations whose instructions `make instructions` counts; in this package, so that all checks share one release build.
        .executableTarget(
            name: "operations",
            dependencies: ["Preferences"],
            path: "Evidence/Benchmarks/Operations",
            swiftSettings: settings
        ),
        // The laws over random sequences of calls; in this package because they also use its internal modules.
        .executableTarget(
            name: "laws",
            dependencies: ["Preferences", "PreferencesTesting", "FileTestSupport"],
            path: "Evidence/Laws",
            swiftSettings: settings
        ),
        // Experiments with faults of the file store; in this package because they also use its internal modules.
        .executableTarget(
            name: "torture",
            dependencies: ["Preferences", "PreferencesKeyring", "KeyringTestSupport"],
            path: "Evidence/Torture/Sources",
            swiftSettings: settings
        ),
    ] + appleTests,
    swiftLanguageModes: [.v6]
)
