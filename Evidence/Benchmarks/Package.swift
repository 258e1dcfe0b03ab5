// swift-tools-version: 6.2
// A separate package, which users of the library don't build. Linux with glibc only. The peers that the library is compared
// with are loaded at run time, so that the package builds and runs without them.
import PackageDescription

#if !os(Linux)
#error("the benchmarks are for Linux: they use glibc and /proc")
#endif

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let preferences = Target.Dependency.product(name: "Preferences", package: "swift-preferences")

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-preferences", path: "../..")],
    targets: [
        // The programs whose start is measured are named so that `swift run benchmarks` builds them, too.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "Measuring", "CBenchmarks", "starts-plain", "starts-watching", "starts-essentials",
                "starts-preferences", preferences,
            ],
            swiftSettings: settings
        ),
        // Rounds, medians and tables; knows no store.
        .target(name: "Measuring", swiftSettings: settings),
        // C declarations that Swift lacks.
        .target(name: "CBenchmarks"),
        .executableTarget(name: "starts-plain", swiftSettings: settings),
        .executableTarget(name: "starts-watching", swiftSettings: settings),
        .executableTarget(name: "starts-essentials", swiftSettings: settings),
        .executableTarget(name: "starts-preferences", dependencies: [preferences], swiftSettings: settings),
        .testTarget(name: "MeasuringTests", dependencies: ["Measuring"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
