#if Macros
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import Plugin

/// Expects that the macros expand a source to another.
func expectExpansion(
    of source: String,
    is expanded: String,
    conformances: Bool = true,
    diagnostics: [DiagnosticSpec] = [],
    applying fixIt: String? = nil,
    fixed: String? = nil,
    at location: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expanded,
        diagnostics: diagnostics,
        macroSpecs: [
            "PreferenceGroup": MacroSpec(
                type: PreferenceGroupMacro.self,
                conformances: conformances ? ["PreferenceGroup", "Observation.Observable"] : []
            ),
            "_PreferenceProperty": MacroSpec(type: PropertyMacro.self),
            "_TransientProperty": MacroSpec(type: PropertyMacro.self),
        ],
        applyFixIts: fixIt.map { [$0] },
        fixedSource: fixed
    ) { failure in
        Issue.record("\(failure.message)", sourceLocation: location)
    }
}

/// A property that is rejected in a group, and the results of its fix-its.
struct Refused: CustomTestStringConvertible {
    let kind: String
    let property: String
    let message: String
    /// The part of the property to which the message points.
    let place: String
    /// The fix-its, each with the resulting property.
    let fixIts: [(message: String, property: String)]

    init(
        _ property: String,
        in kind: String = "struct",
        _ message: String,
        at place: String,
        _ fixIts: [(String, String)]
    ) {
        self.kind = kind
        self.property = property
        self.message = message
        self.place = place
        self.fixIts = fixIts.map { (message: $0.0, property: $0.1) }
    }

    var testDescription: String { "\(property) in a \(kind)" }

    func check(prefix: String? = nil) throws {
        let start = try #require(property.firstRange(of: place)?.lowerBound)
        let before = property[..<start]
        let diagnostic = DiagnosticSpec(
            message: message,
            line: 3 + before.count { $0 == "\n" },
            column: 1 + (before.split(separator: "\n", omittingEmptySubsequences: false).last?.count ?? 0),
            fixIts: fixIts.map { FixItSpec(message: $0.message) }
        )
        let attribute = prefix.map { "@PreferenceGroup(prefix: \"\($0)\")" } ?? "@PreferenceGroup"
        func group(_ property: String) -> String {
            "\(kind == "class" ? "final class" : kind) Group {\n\(property)\n    init() {}\n}"
        }
        for (fixIt, fixed) in fixIts.isEmpty ? [("", property)] : fixIts {
            expectExpansion(
                of: "\(attribute)\n\(group(property))",
                is: group(property),
                conformances: false,
                diagnostics: [diagnostic],
                applying: fixIts.isEmpty ? nil : fixIt,
                fixed: fixIts.isEmpty ? nil : "\(attribute)\n\(group(fixed))"
            )
        }
    }
}
#endif
