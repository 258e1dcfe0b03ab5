// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the other examples don't need other packages.
let package = Package(
    name: "Service",
    platforms: [.macOS(.v15)],
    traits: [.trait(name: "Etcd", description: "Settings of a fleet, from an etcd cluster.")],
    dependencies: [
        .package(
            name: "swift-preferences",
            path: "../..",
            traits: ["Configuration", .trait(name: "Etcd", condition: .when(traits: ["Etcd"]))]
        ),
        .package(
            url: "https://github.com/apple/swift-configuration.git",
            from: "1.0.0",
            traits: ["JSON", "Reloading"]
        ),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.3"),
        // For swift-configuration's trait Reloading: SwiftPM 6.3 doesn't resolve the packages that only the trait needs unless they are
        // listed, as swift-preferences depends on swift-configuration without the trait.
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "greeter",
            dependencies: [
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "PreferencesConfiguration", package: "swift-preferences"),
                .product(name: "PreferencesEtcd", package: "swift-preferences", condition: .when(traits: ["Etcd"])),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .testTarget(name: "GreeterTests", dependencies: ["greeter"]),
    ],
    swiftLanguageModes: [.v6]
)
