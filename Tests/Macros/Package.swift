// swift-tools-version: 6.2
// The tests of the macros' expansions. A separate package, as SwiftPM compiles all that such tests depend on for the host: in the root
// package that would be the library, a second time.
import CompilerPluginSupport
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .define("Macros"),
]

func syntax(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "swift-syntax") }
}

let package = Package(
    name: "MacrosTests",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"700.0.0")],
    targets: [
        // The sources of the plugin, through a link, as a package can't vend a macro's target.
        .macro(
            name: "Plugin",
            dependencies: syntax(
                "SwiftSyntax",
                "SwiftSyntaxBuilder",
                "SwiftSyntaxMacros",
                "SwiftDiagnostics",
                "SwiftCompilerPlugin"
            ),
            path: "Plugin",
            swiftSettings: settings
        ),
        .testTarget(
            name: "ExpansionTests",
            dependencies: ["Plugin"]
                + syntax("SwiftSyntaxBuilder", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacrosGenericTestSupport"),
            path: "ExpansionTests",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
