#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A check that finds what a property of a group becomes, or its problems.
struct PropertyCheck {
    private let variable: VariableDeclSyntax
    private let host: Host
    private static let markers: Set = ["Key", "Options", "Transient"]
    private let markers: Set<String>
    private let wrappers: [AttributeSyntax]

    init(_ variable: VariableDeclSyntax, in host: Host) {
        self.variable = variable
        self.host = host
        let attributes = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
        markers = Set(attributes.map(\.simpleName)).intersection(Self.markers)
        // Attributes of the language begin in lower case, and a global actor's name ends like that of the main actor.
        wrappers = attributes.filter { attribute in
            let name = attribute.simpleName
            return name.isTypeName && !Self.markers.contains(name) && !name.hasSuffix("Actor")
        }
    }

    var result: (Property.Kind, [Diagnostic]) {
        guard let binding = variable.bindings.first else { return (.other, []) }
        if let condition = variable.attributes.conditionOfAttributes {
            return (
                .other,
                [
                    condition.problem(
                        "the attributes of a property in a type with '@PreferenceGroup' can't stand in '#if'; "
                            + "put the whole property into it, once for each condition"
                    )
                ]
            )
        }
        let isTransient = markers.contains("Transient")
        if isTransient, markers.count > 1 {
            return (
                .other,
                [
                    variable.problem(
                        "a property with '@Transient' is not stored, so it can't have a key or options",
                        fixIts: [.removing(markers.subtracting(["Transient"]), from: variable)]
                    )
                ]
            )
        }
        if let wrapped = problemsOfWrapper() { return (.other, wrapped) }
        if isComputed(binding) { return (.other, problemsOfMarkers(on: "a computed property")) }
        if isConstant {
            if !isTransient { return (.other, problemsOfConstant(binding)) }
            // An explicit initializer may give it a value.
            return (.other, host.hasInitializer ? [] : problemsOfDefault(binding))
        }
        if isTransient, !host.isClass { return (.transient, problemsOfDefault(binding)) }
        let problems = problemsOfForm(binding)
        if !problems.isEmpty { return (.other, problems) }
        if isTransient {
            let unwrapped = problemsOfUnwrapping(binding)
            return (.transient, unwrapped.isEmpty ? problemsOfDefault(binding) : unwrapped)
        }
        let found = problemsOfKey() + problemsOfOptions() + problemsOfType(binding)
        return (.preference, found.isEmpty ? problemsOfDefault(binding) : found)
    }

    private var isConstant: Bool { variable.bindingSpecifier.tokenKind == .keyword(.let) }

    private func isComputed(_ binding: PatternBindingSyntax) -> Bool {
        switch binding.accessorBlock?.accessors {
        case .getter: true
        case .accessors(let accessors): !accessors.contains { $0.isObserver }
        case nil: false
        }
    }

    // MARK: Properties that are not changed

    private func problemsOfMarkers(on kind: String) -> [Diagnostic] {
        if markers.isEmpty { return [] }
        let names = markers.sorted().map { "'@\($0)'" }.joined(separator: " and ")
        return [
            variable.problem(
                "\(names) can't be on \(kind), which is not a preference of its group",
                fixIts: [.removing(markers, from: variable)]
            )
        ]
    }

    /// Returns the result for a property with another wrapper, or `nil` if it has none.
    private func problemsOfWrapper() -> [Diagnostic]? {
        guard let wrapper = wrappers.first else { return nil }
        guard host.isClass, let written = variable.attributes.named("Preference").first else {
            return problemsOfMarkers(on: "a property with '@\(wrapper.simpleName)'")
        }
        let fixIt = WrittenPreference(written, on: variable, in: host).fixIt
        return [
            written.problem(
                "'@Preference' can't be in a final class with '@PreferenceGroup', which is 'Sendable'; "
                    + (fixIt == nil
                        ? "write 'let \(name) = Preference(…)' and use its value"
                        : "the group makes each 'var' a preference, with '@Key' for its name and '@Options' for its options"),
                fixIts: fixIt.map { [$0] } ?? []
            )
        ]
    }

    private func problemsOfConstant(_ binding: PatternBindingSyntax) -> [Diagnostic] {
        // A preference as a plain value, or another group.
        if let call = binding.initializer?.value.as(FunctionCallExprSyntax.self), call.calledExpression.isType {
            return problemsOfMarkers(on: "a 'let'")
        }
        var specifier = variable.bindingSpecifier
        specifier.tokenKind = .keyword(.var)
        return [
            variable.bindingSpecifier.problem(
                "a preference must be a 'var', as it can be set",
                fixIts: [.replacing(variable.bindingSpecifier, with: specifier, "write 'var'")]
                    + (markers.isEmpty ? transient("leave it out of the preferences by '@Transient'") : [])
            )
        ]
    }

    // MARK: Properties that can't be preferences

    private func problemsOfForm(_ binding: PatternBindingSyntax) -> [Diagnostic] {
        if variable.bindings.count > 1 {
            return [variable.problem("each preference needs a separate 'var'", fixIts: splitting)]
        }
        guard binding.pattern.is(IdentifierPatternSyntax.self) else {
            return [
                binding.pattern.problem("a preference can't be a tuple of names; write a separate 'var' for each")
            ]
        }
        for modifier in variable.modifiers where ["lazy", "weak", "unowned"].contains(modifier.name.text) {
            let reason =
                modifier.name.text == "lazy"
                ? "a preference can't be lazy; its default is evaluated only when it is needed anyway"
                : "a preference is a stored value and can't be '\(modifier.name.text)'"
            var changed = variable
            changed.modifiers = variable.modifiers.filter { $0.id != modifier.id }
            changed.leadingTrivia = variable.leadingTrivia
            return [
                modifier.problem(
                    reason,
                    fixIts: [.replacing(variable, with: changed, "remove '\(modifier.name.text)'")]
                )
            ]
        }
        if case .accessors(let accessors)? = binding.accessorBlock?.accessors,
            let observer = accessors.first(where: { $0.isObserver })
        {
            let place = host.isClass ? "_\(name)" : "$\(name)"
            let word = observer.accessorSpecifier.text
            return [
                observer.accessorSpecifier.problem(
                    markers.contains("Transient")
                        ? "'\(word)' can't be on a '@Transient' property of a class, which has accessors already; track it by "
                            + "'withObservationTracking', or set what depends on it in a method"
                        : "a preference also changes elsewhere, which '\(word)' would not notice; "
                            + "observe it by '\(place).observe { change in … }'"
                )
            ]
        }
        return []
    }

    /// Returns fix-its that write a declaration for each name, if each has a type or a value.
    private var splitting: [FixIt] {
        guard variable.attributes.isEmpty,
            variable.bindings.allSatisfy({ $0.initializer != nil || $0.typeAnnotation != nil })
        else {
            return []
        }
        let indentation =
            variable.leadingTrivia.description.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).last
            ?? ""
        let start = (variable.modifiers.map(\.trimmedDescription) + ["var"]).joined(separator: " ")
        let changes = variable.bindings.compactMap(\.trailingComma).map { comma in
            FixIt.Change.replace(
                oldNode: Syntax(comma),
                newNode: Syntax(comma.with(\.tokenKind, .identifier("\n\(indentation)\(start)")))
            )
        }
        return [FixIt(message: Message(message: "write a 'var' for each"), changes: changes)]
    }

    private func problemsOfType(_ binding: PatternBindingSyntax) -> [Diagnostic] {
        let alternative =
            host.isClass
            ? "leave a 'Sendable' value out by '@Transient'" : "leave it out of the preferences by '@Transient'"
        if let type = binding.typeAnnotation?.type {
            let unwrapped = problemsOfUnwrapping(binding)
            if !unwrapped.isEmpty { return unwrapped }
            guard let part = type.firstUnstorable else { return [] }
            return [
                part.problem(
                    "'\(part.trimmedDescription)' can't be stored; a preference's type is one of the basic types, an enum with raw "
                        + "values, 'Codable' or 'PreferenceValue'",
                    fixIts: transient(alternative)
                )
            ]
        }
        if let value = binding.initializer?.value,
            value.is(ClosureExprSyntax.self) || (value.as(TupleExprSyntax.self)?.elements.count ?? 1) > 1
        {
            return [
                value.problem(
                    "a \(value.is(ClosureExprSyntax.self) ? "closure" : "tuple") can't be stored",
                    fixIts: transient(alternative)
                )
            ]
        }
        return []
    }

    private func problemsOfUnwrapping(_ binding: PatternBindingSyntax) -> [Diagnostic] {
        guard let type = binding.typeAnnotation?.type,
            let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        else { return [] }
        let optional = OptionalTypeSyntax(
            wrappedType: unwrapped.wrappedType,
            trailingTrivia: unwrapped.trailingTrivia
        )
        return [
            type.problem(
                "a property of a group can't be unwrapped implicitly, as it may have no value",
                fixIts: [.replacing(type, with: TypeSyntax(optional), "write '\(optional.trimmedDescription)'")]
            )
        ]
    }

    private func transient(_ message: String) -> [FixIt] { FixIt.adding("@Transient", to: variable, message) }

    private func problemsOfDefault(_ binding: PatternBindingSyntax) -> [Diagnostic] {
        guard binding.initializer == nil, let type = binding.typeAnnotation?.type, isConstant || !type.isOptional
        else { return [] }
        var new = binding
        new.typeAnnotation?.type = type.trimmed
        new.initializer = InitializerClauseSyntax(
            equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
            value: EditorPlaceholderExprSyntax(placeholder: .identifier("<#default#>")),
            trailingTrivia: binding.trailingTrivia
        )
        return [
            binding.problem(
                isConstant
                    ? "'\(name)' needs a value" : "'\(name)' needs a default, as its type isn't written as an optional",
                fixIts: [.replacing(binding, with: new, "add a default")]
            )
        ]
    }

    // MARK: Markers

    private func problemsOfKey() -> [Diagnostic] {
        let keys = variable.attributes.named("Key")
        if keys.count > 1 { return [keys[1].problem("a preference has one '@Key'")] }
        return (keys.first?.labeledArguments ?? []).prefix(1).compactMap { argument in
            switch argument.expression.plainText {
            case nil:
                argument.expression.problem("a stored name must be a plain string literal, as in '@Key(\"\(name)\")'")
            case "": argument.expression.problem("a stored name can't be empty")
            default: nil
            }
        }
    }

    private func problemsOfOptions() -> [Diagnostic] {
        if let problem = variable.problemOfRepeatedOptions { return [problem] }
        // In a wrapper that a macro adds, the compiler (6.3) finds no name that a closure declares.
        guard !host.isClass,
            let name = variable.writtenOptions.lazy.compactMap({ Syntax($0).firstLocalName }).first
        else {
            return []
        }
        return [
            name.problem(
                "in a struct the closure of an option can't name its parameters or other values; write '$0', as in "
                    + "'PreferenceOption<Int>.check { $0 > 1 }', or a function, as in '.check(isSmall)'"
            )
        ]
    }

    private var name: String {
        variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName ?? ""
    }
}

/// `@Preference(…)` as written in a class, where it isn't possible.
private struct WrittenPreference {
    private let variable: VariableDeclSyntax
    private let arguments: [LabeledExprSyntax]
    private let host: Host

    init(_ attribute: AttributeSyntax, on variable: VariableDeclSyntax, in host: Host) {
        self.variable = variable
        self.host = host
        arguments = attribute.labeledArguments
    }

    /// Creates `@Key` and `@Options` for it; `nil` if these can't express it.
    var fixIt: FixIt? {
        let options = arguments.dropFirst()
        guard let first = arguments.first, first.label == nil, let stored = first.expression.plainText,
            stored.hasPrefix(host.prefix), options.allSatisfy({ $0.label == nil }),
            let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName
        else { return nil }
        let key = String(stored.dropFirst(host.prefix.count))
        guard !key.isEmpty else { return nil }
        var markers: [String] = []
        if key != name { markers.append("@Key(\(key.literal))") }
        if !options.isEmpty {
            markers.append("@Options(\(options.map(\.expression.trimmedDescription).joined(separator: ", ")))")
        }
        var new = variable.without(["Preference", "ObservationIgnored"])
        if !markers.isEmpty {
            let written = markers.map { AttributeListSyntax.Element.attribute("\(raw: $0) ") }
            new.leadingTrivia = []
            new.attributes = AttributeListSyntax(written + Array(new.attributes))
        }
        new.leadingTrivia = variable.leadingTrivia
        return .replacing(
            variable,
            with: new,
            "write \(markers.isEmpty ? "'var \(name)'" : "'\(markers.joined(separator: " "))'")"
        )
    }
}

extension Syntax {
    /// The first name that a closure or a statement in it declares.
    fileprivate var firstLocalName: Syntax? {
        if self.is(ClosureShorthandParameterSyntax.self) || self.is(ClosureParameterSyntax.self)
            || self.is(IdentifierPatternSyntax.self)
        {
            return self
        }
        return children(viewMode: .sourceAccurate).lazy.compactMap(\.firstLocalName).first
    }
}

extension AccessorDeclSyntax {
    fileprivate var isObserver: Bool { ["willSet", "didSet"].contains(accessorSpecifier.text) }
}

extension ExprSyntax {
    /// Whether it is a type's name, judged by its case.
    fileprivate var isType: Bool {
        if let generic = self.as(GenericSpecializationExprSyntax.self) { return generic.expression.isType }
        if let member = self.as(MemberAccessExprSyntax.self) {
            let name = member.declName.baseName.text
            return name == "init" || name.isTypeName
        }
        return self.as(DeclReferenceExprSyntax.self)?.baseName.text.isTypeName ?? false
    }
}

extension TypeSyntax {
    /// Whether it is written as an optional.
    var isOptional: Bool {
        if self.is(OptionalTypeSyntax.self) { return true }
        if let member = self.as(MemberTypeSyntax.self) { return member.name.text == "Optional" }
        return self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }

    /// The first part whose syntax shows that it can't be stored.
    fileprivate var firstUnstorable: TypeSyntax? {
        if let tuple = self.as(TupleTypeSyntax.self) {
            return tuple.elements.count == 1 ? tuple.elements.first?.type.firstUnstorable : self
        }
        if self.is(FunctionTypeSyntax.self) || self.is(SomeOrAnyTypeSyntax.self) || self.is(MetatypeTypeSyntax.self)
            || self.is(CompositionTypeSyntax.self)
        {
            return self
        }
        if let name = self.as(IdentifierTypeSyntax.self) {
            if ["Any", "AnyObject"].contains(name.name.text) { return self }
            return Self.parts(of: name.genericArgumentClause).lazy.compactMap(\.firstUnstorable).first
        }
        if let attributed = self.as(AttributedTypeSyntax.self) {
            return attributed.baseType.firstUnstorable.map { _ in self }
        }
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.firstUnstorable }
        if let array = self.as(ArrayTypeSyntax.self) { return array.element.firstUnstorable }
        if let dictionary = self.as(DictionaryTypeSyntax.self) {
            return dictionary.key.firstUnstorable ?? dictionary.value.firstUnstorable
        }
        return nil
    }

    private static func parts(of clause: GenericArgumentClauseSyntax?) -> [TypeSyntax] {
        // Found as children, because newer releases of the syntax also have expressions for arguments.
        (clause?.arguments ?? []).flatMap {
            $0.children(viewMode: .sourceAccurate).compactMap { $0.as(TypeSyntax.self) }
        }
    }
}
#endif
