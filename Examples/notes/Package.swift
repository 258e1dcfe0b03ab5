// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the other examples don't need swift-argument-parser.
let package = Package(
    name: "notes",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-preferences", path: "../..", traits: ["ArgumentParser"]),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "notes",
            dependencies: [
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "PreferencesArgumentParser", package: "swift-preferences"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: ["notes", .product(name: "PreferencesArgumentParser", package: "swift-preferences")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
