import SwiftSyntax

/// A key, as far as the sources determine it.
struct KeyText: Hashable {
    enum Segment: Hashable {
        case text(String)
        /// An expression that is evaluated at run time, and its function: in another function, `key` is another key.
        case computed(String, in: SyntaxIdentifier?)

        static func computed(_ expression: some SyntaxProtocol) -> Segment {
            .computed(expression.text, in: expression.enclosingFunction)
        }

        /// The argument of a call.
        case parameter(String, of: Owner)
    }

    var segments: [Segment]

    init(_ segments: [Segment]) {
        self.segments = []
        for segment in segments {
            if case .text(let text) = segment, case .text(let last) = self.segments.last {
                self.segments[self.segments.count - 1] = .text(last + text)
            } else {
                self.segments.append(segment)
            }
        }
    }

    /// The key, or `nil` if a part of it is computed.
    var name: String? {
        guard segments.count == 1, case .text(let text) = segments[0] else { return nil }
        return text
    }

    /// Whether a part of it is known.
    var isPattern: Bool {
        segments.count > 1
            && segments.contains { if case .text = $0 { true } else { false } }
    }

    var parameter: (name: String, owner: Owner)? {
        for case .parameter(let name, of: let owner) in segments { return (name, owner) }
        return nil
    }

    /// The text with `\(expression)` for computed parts, or only the expression if there is nothing else.
    var description: String {
        segments.map { segment in
            switch segment {
            case .text(let text): text
            case .computed(let text, in: _), .parameter(let text, of: _): segments.count == 1 ? text : "\\(\(text))"
            }
        }.joined()
    }

    /// The key with properties that an object is created with, such as an account's name, as computed parts of a longer text.
    var withoutPropertiesInPatterns: KeyText {
        guard segments.count > 1 else { return self }
        return KeyText(
            segments.map { segment in
                if case .parameter(let name, of: .type) = segment { .computed(name, in: nil) } else { segment }
            }
        )
    }

    /// Returns the key with a parameter replaced by other segments.
    func replacing(_ name: String, of owner: Owner, by value: KeyText) -> KeyText {
        KeyText(segments.flatMap { $0 == .parameter(name, of: owner) ? value.segments : [$0] })
    }
}

extension Declarations {
    /// Returns the keys that an expression can be: several for a loop or for `?:`.
    /// - Parameter type: The expected type, for `.volume`.
    func keys(_ expression: ExprSyntax, type: String? = nil, depth: Int = 0) -> [KeyText] {
        let expression = expression.unwrapped
        let unknown = [KeyText([.computed(expression)])]
        guard depth < 12 else { return unknown }
        if let literal = expression.as(StringLiteralExprSyntax.self) {
            return [KeyText(literal.segments.flatMap { segments($0, depth + 1) })]
        }
        if let literal = expression.as(IntegerLiteralExprSyntax.self) { return [KeyText([.text(literal.text)])] }
        if let sequence = expression.as(SequenceExprSyntax.self) {
            return keys(inSequence: Array(sequence.elements), type, depth) ?? unknown
        }
        if let name = expression.as(DeclReferenceExprSyntax.self)?.baseName.identifierText {
            if name == "self" || name == "rawValue" { return ownRawValues(at: expression) ?? unknown }
            return binding(of: name, at: expression).flatMap { keys(of: $0, name, depth) } ?? unknown
        }
        if let member = expression.as(MemberAccessExprSyntax.self) { return keys(member, type, depth) ?? unknown }
        if let call = expression.as(FunctionCallExprSyntax.self) { return keys(call, depth) ?? unknown }
        // `#keyPath(UserDefaults.volume)`
        if let macro = expression.as(MacroExpansionExprSyntax.self), macro.macroName.text == "keyPath",
            let name = macro.arguments.first?.expression.referencedName
        {
            return [KeyText([.text(name)])]
        }
        return unknown
    }

    private func segments(_ segment: StringLiteralSegmentListSyntax.Element, _ depth: Int) -> [KeyText.Segment] {
        switch segment {
        case .stringSegment(let text): return [.text(text.content.text.unescaped)]
        case .expressionSegment(let value):
            guard let expression = value.expressions.first?.expression else { return [] }
            let values = keys(expression, depth: depth)
            guard values.count == 1 else { return [.computed(expression)] }
            return values[0].segments
        }
    }

    private func keys(inSequence elements: [ExprSyntax], _ type: String?, _ depth: Int) -> [KeyText]? {
        for (index, element) in elements.enumerated() {
            if let ternary = element.as(UnresolvedTernaryExprSyntax.self), index + 1 < elements.count {
                return keys(ternary.thenExpression, type: type, depth: depth + 1)
                    + keys(elements[index + 1], type: type, depth: depth + 1)
            }
        }
        guard elements.count > 2 else { return nil }
        if elements[1].is(UnresolvedAsExprSyntax.self) { return keys(elements[0], type: type, depth: depth + 1) }
        if elements[1].as(BinaryOperatorExprSyntax.self)?.operator.text == "??" {
            let values = keys(elements[0], type: type, depth: depth + 1)
            return values + (values.contains { $0.name != nil } ? [] : keys(elements[2], type: type, depth: depth + 1))
        }
        // Each alternative of a part is a key, up to a number that is still readable.
        var results: [[KeyText.Segment]] = [[]]
        for (index, element) in elements.enumerated() {
            if index.isMultiple(of: 2) {
                let values = keys(element, depth: depth + 1)
                let parts = results.count * values.count <= 8 ? values.map(\.segments) : [[.computed(element)]]
                results = results.flatMap { start in parts.map { start + $0 } }
            } else if element.as(BinaryOperatorExprSyntax.self)?.operator.text != "+" {
                return nil
            }
        }
        return results.map { KeyText($0) }.unique
    }

    private func keys(_ member: MemberAccessExprSyntax, _ type: String?, _ depth: Int) -> [KeyText]? {
        let name = member.declName.baseName.identifierText
        guard let base = member.base?.unwrapped else {
            guard let type = type?.withoutOptional.withoutGenerics, let found = self.member(name, of: type, at: member)
            else {
                return nil
            }
            return keys(of: found, name, depth)
        }
        if name == "rawValue" { return keys(base, depth: depth + 1) }
        // A member of a type, or of the enclosing type.
        let baseText = base.trimmedDescription
        if baseText == "self" || baseText == "Self" {
            return binding(of: name, inTypesAround: member).flatMap { keys(of: $0, name, depth) }
        }
        if baseText.lastName.startsUppercase, let found = self.member(name, of: baseText, at: member) {
            return keys(of: found, name, depth)
        }
        // The text in a custom key type, as in `func value(_ key: Key) { … key.name }`: the callers pass it.
        if case .parameter(let parameter, let owner)? = referenced(base),
            case .property? = self.member(name, of: parameter.type.trimmedDescription.withoutGenerics, at: member)
        {
            return [KeyText([.parameter(parameter.innerName, of: owner)])]
        }
        // The argument `key:` of the call that created a constant, as in `Defaults.width.key`.
        if let constant = referenced(base), case .value(let value, _) = constant {
            if let call = value.unwrapped.as(FunctionCallExprSyntax.self),
                let argument = call.arguments.first(where: { $0.label?.text == name })
            {
                return keys(argument.expression, depth: depth + 1)
            }
            if let call = value.unwrapped.as(FunctionCallExprSyntax.self),
                let callee = call.calledExpression.referencedName,
                let found = self.member(name, of: callee, at: value)
            {
                return keys(of: found, name, depth)
            }
        }
        return nil
    }

    /// Returns the constant, variable or parameter that an expression refers to.
    func referenced(_ expression: ExprSyntax) -> Binding? {
        let expression = expression.unwrapped
        if let name = expression.as(DeclReferenceExprSyntax.self)?.baseName.identifierText {
            return binding(of: name, at: expression)
        }
        guard let member = expression.as(MemberAccessExprSyntax.self), let base = member.base?.unwrapped else {
            return nil
        }
        let name = member.declName.baseName.identifierText
        let baseText = base.trimmedDescription
        if baseText == "self" || baseText == "Self" { return binding(of: name, inTypesAround: member) }
        return baseText.lastName.startsUppercase ? self.member(name, of: baseText, at: member) : nil
    }

    private func binding(of name: String, inTypesAround node: some SyntaxProtocol) -> Binding? {
        let types = node.enclosingTypes
        for count in stride(from: types.count, to: 0, by: -1) {
            if let found = member(name, of: types.prefix(count).joined(separator: "."), at: node) { return found }
        }
        return nil
    }

    private func keys(_ call: FunctionCallExprSyntax, _ depth: Int) -> [KeyText]? {
        let callee = call.calledExpression.as(GenericSpecializationExprSyntax.self)?.expression ?? call.calledExpression
        guard let name = callee.referencedName else { return nil }
        // A literal raw value: `Key("volume")`, `.init(rawValue: "volume")`.
        if name.startsUppercase || name == "init" {
            let labels = [nil, "rawValue", "name", "key", "stringLiteral"]
            guard let argument = call.arguments.first(where: { labels.contains($0.label?.text) }) else { return nil }
            let values = keys(argument.expression, depth: depth + 1)
            return values.allSatisfy { $0.name != nil } ? values : nil
        }
        // A function that returns a text with its parameters.
        guard let site = calls[name]?.first(where: { $0.node.id == call.id }) else { return nil }
        for function in matching(site) {
            guard let body = function.body, let arguments = function.arguments(of: site) else { continue }
            let owner = Owner.function(function.node.id)
            let results = body.returned.flatMap { keys($0, depth: depth + 1) }.flatMap { result -> [KeyText] in
                var values = [result]
                for parameter in function.parameters {
                    guard let argument = arguments[parameter.innerName] else { continue }
                    let replacements = keys(argument, type: typeName(of: parameter, in: function), depth: depth + 1)
                    values = values.flatMap { value in
                        replacements.map { value.replacing(parameter.innerName, of: owner, by: $0) }
                    }
                }
                return values
            }
            if !results.isEmpty, results.contains(where: { $0.name != nil || $0.isPattern || $0.parameter != nil }) {
                return results.unique
            }
        }
        return nil
    }

    private func keys(of binding: Binding, _ name: String, _ depth: Int) -> [KeyText]? {
        switch binding {
        case .value(let value, let type): return keys(value, type: type?.trimmedDescription, depth: depth + 1)
        case .computed(let values, let type):
            let found = values.flatMap { keys($0, type: type?.trimmedDescription, depth: depth + 1) }
            return found.isEmpty ? nil : found.unique
        case .parameter(let parameter, let owner): return [KeyText([.parameter(parameter.innerName, of: owner)])]
        case .property(let name, let owner, _): return [KeyText([.parameter(name, of: owner)])]
        case .enumCase(let name, let rawValue, _):
            return rawValue.map { keys($0, depth: depth + 1) } ?? [KeyText([.text(name)])]
        case .element(let sequence): return elements(sequence, depth + 1)
        }
    }

    /// Returns the keys in an array literal, or of all cases of an enum.
    private func elements(_ sequence: ExprSyntax, _ depth: Int) -> [KeyText]? {
        let sequence = sequence.unwrapped
        if let array = sequence.as(ArrayExprSyntax.self) {
            return array.elements.flatMap { keys($0.expression, depth: depth + 1) }
        }
        if let member = sequence.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "allCases",
            let base = member.base, let type = type(named: base.trimmedDescription, at: sequence)
        {
            return rawValues(of: type)
        }
        if case .value(let value, _)? = referenced(sequence), depth < 8 { return elements(value, depth + 1) }
        return nil
    }

    /// Returns the raw values of the enclosing enum, for `UserDefaults.standard.bool(forKey: rawValue)` in it.
    private func ownRawValues(at node: some SyntaxProtocol) -> [KeyText]? {
        let scope = node.enclosingTypes.joined(separator: ".")
        return type(named: scope, at: node).flatMap(rawValues)
    }

    private func rawValues(of type: TypeDeclaration) -> [KeyText]? {
        guard !type.cases.isEmpty else { return nil }
        return type.cases.flatMap { name, value in value.map { keys($0) } ?? [KeyText([.text(name)])] }
    }
}

extension SyntaxProtocol {
    /// The enclosing function, initializer, subscript or computed property of a node, else the file.
    fileprivate var enclosingFunction: SyntaxIdentifier {
        for node in ancestors {
            switch node.kind {
            case .functionDecl, .initializerDecl, .deinitializerDecl, .subscriptDecl: return node.id
            case .patternBinding where node.as(PatternBindingSyntax.self)?.accessorBlock != nil: return node.id
            default: break
            }
        }
        return root.id
    }
}

extension Array where Element: Hashable {
    /// The elements without duplicates, in their order.
    var unique: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension String {
    /// The text of a literal's content, with the usual escapes decoded.
    fileprivate var unescaped: String {
        guard contains("\\") else { return self }
        var result = ""
        var rest = self[...]
        while let character = rest.popFirst() {
            guard character == "\\", let next = rest.popFirst() else {
                result.append(character)
                continue
            }
            switch next {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "u":
                let digits = rest.dropFirst().prefix { $0 != "}" }
                if let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) {
                    result.unicodeScalars.append(scalar)
                }
                rest = rest.dropFirst(digits.count + 2)
            default: result.append(next)
            }
        }
        return result
    }
}
