// swift-tools-version: 6.2
import PackageDescription

// Stores on an etcd cluster over the core that replaces today's, beside the code that stays, which is reached through symlinks. A separate
// package, so that the core resolves no other one; like a program's own backend, it sees only what the core makes public.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .define("Etcd"),
    // In the end it is one package with the core, whose `package` names it uses.
    .unsafeFlags(["-package-name", "next"]),
]

func next(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-preferences-next") }
}

let core = next("Preferences", "PreferencesSchema", "DurableFile", "CPreferences")
let testSupport = next("FileTestSupport", "TestSupport", "PreferencesValidation", "PreferencesTesting")

let etcdClient: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOSSL", package: "swift-nio-ssl"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "CoreMetrics", package: "swift-metrics"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
]

let package = Package(
    name: "swift-preferences-next-etcd",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-preferences-next", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .target(
            name: "PreferencesEtcd",
            dependencies: core + etcdClient,
            packageAccess: false,
            swiftSettings: settings
        ),
        .target(
            name: "EtcdTestSupport",
            dependencies: testSupport,
            path: "Tests/EtcdTestSupport",
            packageAccess: false,
            swiftSettings: settings
        ),
        .testTarget(
            name: "PreferencesEtcdTests",
            dependencies: ["PreferencesEtcd", "EtcdTestSupport"] + core + testSupport + etcdClient + [
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            packageAccess: false,
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
