#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [PreferenceGroupMacro.self, PropertyMacro.self, MarkerMacro.self]
}
#else
/// The plugin without the trait: it has no macros, but a macro target must be a program.
@main
struct Plugin {
    static func main() {}
}
#endif
