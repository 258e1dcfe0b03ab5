// swift-tools-version: 6.2
// A separate package, so that installing prefs doesn't build swift-syntax. It reads sources, so it doesn't need the library.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "prefs-adopt",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "prefs-adopt", targets: ["prefs-adopt"])],
    dependencies: [
        // The same range as in the root package, so that both can be built in one folder.
        .package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"700.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "prefs-adopt",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "PrefsAdoptTests", dependencies: ["prefs-adopt"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
