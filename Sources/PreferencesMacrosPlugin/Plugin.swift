#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [PreferenceGroupMacro.self, PropertyMacro.self, MarkerMacro.self]
}
#else
/// Without the trait there are no macros, but a macro target is a program.
@main
struct Plugin {
    static func main() {}
}
#endif
