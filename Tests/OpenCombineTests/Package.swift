// swift-tools-version: 6.2
// The tests of publishers without Apple's Combine. A separate package, like a client with the trait, so that only these are built.
import PackageDescription

let package = Package(
    name: "OpenCombineTests",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-preferences", path: "../..", traits: ["OpenCombine"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
    ],
    targets: [
        .testTarget(
            name: "PublisherTests",
            dependencies: [
                .product(name: "Preferences", package: "swift-preferences"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: [.define("OpenCombine")]
        )
    ],
    swiftLanguageModes: [.v6]
)
