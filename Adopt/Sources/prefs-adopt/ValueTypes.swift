import SwiftSyntax

// The types and alternatives of values, as far as the code around a use determines them.

extension Declarations {
    /// Returns the type of an expression by its syntax, without `?`.
    func typeName(of expression: ExprSyntax, depth: Int = 0) -> String? {
        let expression = expression.unwrapped
        guard depth < 8 else { return nil }
        if expression.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if expression.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if expression.is(FloatLiteralExprSyntax.self) { return "Double" }
        if expression.is(StringLiteralExprSyntax.self) { return "String" }
        if let prefix = expression.as(PrefixOperatorExprSyntax.self) {
            return prefix.operator.text == "!" ? "Bool" : typeName(of: prefix.expression, depth: depth + 1)
        }
        if let array = expression.as(ArrayExprSyntax.self) {
            let types = array.elements.map { typeName(of: $0.expression, depth: depth + 1) }
            guard let first = types.first, let name = first, types.allSatisfy({ $0 == name }) else { return nil }
            return "[\(name)]"
        }
        if let dictionary = expression.as(DictionaryExprSyntax.self) {
            guard case .elements(let elements) = dictionary.content, let first = elements.first else { return nil }
            let values = elements.map { typeName(of: $0.value, depth: depth + 1) }
            guard let key = typeName(of: first.key, depth: depth + 1), let value = values.first, let value else {
                return nil
            }
            return values.allSatisfy { $0 == value } ? "[\(key): \(value)]" : "[\(key): Any]"
        }
        if let sequence = expression.as(SequenceExprSyntax.self) { return typeName(ofSequence: sequence, depth) }
        if let call = expression.as(FunctionCallExprSyntax.self) { return typeName(of: call, depth) }
        if let member = expression.as(MemberAccessExprSyntax.self) {
            let name = member.declName.baseName.identifierText
            guard let base = member.base?.unwrapped else { return nil }
            if name == "rawValue" { return rawType(of: base, depth) }
            if name == "count" { return "Int" }
            if name == "timeIntervalSince1970" || name == "timeIntervalSinceReferenceDate" { return "Double" }
            let baseText = base.trimmedDescription
            if ["Date", "URL", "Locale"].contains(baseText) { return baseText }
            if let found = referenced(expression) { return typeName(of: found, depth) }
            if let type = typeName(of: base, depth: depth + 1), let found = self.member(name, of: type, at: expression)
            {
                return typeName(of: found, depth + 1)
            }
            return nil
        }
        if let name = expression.as(DeclReferenceExprSyntax.self)?.baseName.identifierText {
            if name == "newValue" || name == "oldValue" { return accessedType(at: expression) }
            if let found = binding(of: name, at: expression) { return typeName(of: found, depth) }
        }
        return nil
    }

    /// The operators whose result is a `Bool`.
    static let logicalOperators: Set = ["==", "!=", "<", ">", "<=", ">=", "&&", "||"]

    private func typeName(ofSequence sequence: SequenceExprSyntax, _ depth: Int) -> String? {
        let elements = Array(sequence.elements)
        for (index, element) in elements.enumerated() {
            if element.is(UnresolvedAsExprSyntax.self), index + 1 < elements.count {
                return elements[index + 1].trimmedDescription.withoutOptional
            }
            if let ternary = element.as(UnresolvedTernaryExprSyntax.self) {
                return typeName(of: ternary.thenExpression, depth: depth + 1)
            }
            if let symbol = element.as(BinaryOperatorExprSyntax.self)?.operator.text,
                Self.logicalOperators.contains(symbol)
            {
                return "Bool"
            }
        }
        return elements.first.flatMap { typeName(of: $0, depth: depth + 1) }
    }

    private func typeName(of call: FunctionCallExprSyntax, _ depth: Int) -> String? {
        let callee = call.calledExpression
        if callee.is(ArrayExprSyntax.self) || callee.is(DictionaryExprSyntax.self) { return callee.trimmedDescription }
        let text = callee.trimmedDescription
        if text.lastName.startsUppercase {
            return text.hasPrefix("Array(") || text == "Array" ? nil : text == "NSNumber" ? nil : text
        }
        if text.hasSuffix(".encode") { return "Data" }
        if text == "NSStringFromPoint" || text == "NSStringFromRect" || text == "NSStringFromSize" { return "String" }
        if text.hasSuffix(".init") { return String(text.dropLast(5)) }
        guard let name = callee.referencedName, let site = calls[name]?.first(where: { $0.node.id == call.id }) else {
            return nil
        }
        // If overloads differ in the result, the type isn't known.
        let results = matching(site).map { $0.result?.trimmedDescription.withoutOptional }.unique
        return results.count == 1 ? results[0] : nil
    }

    private func typeName(of binding: Binding, _ depth: Int) -> String? {
        switch binding {
        case .value(let value, let type):
            return type?.trimmedDescription.withoutOptional ?? typeName(of: value, depth: depth + 1)
        case .computed(let values, let type):
            return type?.trimmedDescription.withoutOptional
                ?? values.lazy.compactMap { self.typeName(of: $0, depth: depth + 1) }.first
        case .parameter(let parameter, _): return parameter.type.trimmedDescription.withoutOptional
        case .property(_, _, let type): return type?.trimmedDescription.withoutOptional
        case .enumCase(_, _, let type): return type.name
        case .element: return nil
        }
    }

    /// Returns the type for the raw value of an expression: its enum, which a preference stores in the same way.
    private func rawType(of base: ExprSyntax, _ depth: Int) -> String? {
        guard
            let name = typeName(of: base, depth: depth + 1)
                ?? base.as(MemberAccessExprSyntax.self)?.base?.trimmedDescription,
            let type = type(named: name, at: base)
        else { return nil }
        return type.name
    }

    /// Returns the type of the property or subscript whose accessor contains a node.
    private func accessedType(at node: some SyntaxProtocol) -> String? {
        for ancestor in node.ancestors {
            if let binding = ancestor.as(PatternBindingSyntax.self), binding.accessorBlock != nil {
                return binding.typeAnnotation?.type.trimmedDescription.withoutOptional
            }
            if let declaration = ancestor.as(SubscriptDeclSyntax.self) {
                return declaration.returnClause.type.trimmedDescription.withoutOptional
            }
        }
        return nil
    }

    func writtenType(of value: ExprSyntax) -> ValueType? {
        guard let name = typeName(of: value) else { return nil }
        let isEnum = type(named: name, at: value).map { !$0.cases.isEmpty } ?? false
        return ValueType(name: name, exactness: isEnum ? .declared : .stored, node: Syntax(value))
    }

    /// Returns the type of a read: that of a cast, of the enum or decoded type that is created from it, or of the method.
    func readType(of call: Syntax, _ method: String?) -> ValueType? {
        let value = call.outermostUnwrapped
        if let name = value.castType {
            if type(named: name, at: call) != nil || !["NSNumber", "NSString", "NSObject"].contains(name) {
                return ValueType(name: name, exactness: .declared, node: call)
            }
        }
        if let made = made(of: value) { return made }
        // A constant with the value, and the type that is created from the constant.
        if let local = value.assignedConstant {
            for reference in local.references {
                if let name = reference.castType {
                    return ValueType(name: name, exactness: .declared, node: call)
                }
                if let made = made(of: reference) { return made }
            }
        }
        if let method { return ValueType(name: method, exactness: .stored, node: call) }
        return value.returningType.map { ValueType(name: $0.withoutOptional, exactness: .declared, node: call) }
    }

    /// Returns the type in `Theme(rawValue: value)` and `decode(T.self, from: value)`.
    private func made(of value: Syntax) -> ValueType? {
        var node = value
        while let parent = node.parent, !parent.is(LabeledExprSyntax.self) {
            guard
                parent.is(SequenceExprSyntax.self) || parent.is(ExprListSyntax.self) || parent.is(TupleExprSyntax.self)
            else { return nil }
            node = parent
        }
        guard let argument = node.parent?.as(LabeledExprSyntax.self),
            let call = argument.parent?.parent?.as(FunctionCallExprSyntax.self)
        else { return nil }
        let callee = call.calledExpression.trimmedDescription
        switch argument.label?.text {
        case "rawValue":
            let name = callee.hasSuffix(".init") ? String(callee.dropLast(5)) : callee
            guard name.lastName.startsUppercase, name != "Self" else { return nil }
            return ValueType(name: name, exactness: .declared, node: value)
        case "from":
            guard callee.lastName.hasPrefix("decode"), let first = call.arguments.first?.expression.trimmedDescription,
                first.hasSuffix(".self")
            else { return nil }
            let coding = callee.contains("PropertyList") ? nil : ".json"
            return ValueType(name: String(first.dropLast(5)), exactness: .declared, node: value, coding: coding)
        default: return nil
        }
    }

    /// Returns the value after `??`, else the value that the method returns if nothing is stored.
    func alternative(to call: Syntax, implicit: String?) -> Fallback? {
        let value = call.outermostUnwrapped
        if let list = value.parent?.as(ExprListSyntax.self) {
            let elements = Array(list)
            if let index = elements.firstIndex(where: { $0.id == value.id }) {
                var next = index + 1
                if next < elements.count, elements[next].is(UnresolvedAsExprSyntax.self) { next += 2 }
                if next + 1 < elements.count, elements[next].as(BinaryOperatorExprSyntax.self)?.operator.text == "??",
                    !elements[next + 1].is(NilLiteralExprSyntax.self)
                {
                    let last = elements[next + 1]
                    return Fallback(origin: .alternative, text: last.text, expression: last)
                }
            }
        }
        return implicit.map { Fallback(origin: .implicit, text: $0) }
    }
}

extension Syntax {
    /// The expression with the `?`, `!`, `try` and parentheses around it.
    fileprivate var outermostUnwrapped: Syntax {
        var node = self
        while let parent = node.parent {
            switch parent.kind {
            case .optionalChainingExpr, .forceUnwrapExpr, .tryExpr: node = parent
            case .labeledExpr
            where parent.parent?.parent?.is(TupleExprSyntax.self) == true
                && parent.parent?.children(viewMode: .sourceAccurate).count == 1:
                // In parentheses.
                guard let tuple = parent.parent?.parent else { return node }
                node = tuple

            default: return node
            }
        }
        return node
    }

    /// The type `T` of `value as? T` or `value is T`.
    fileprivate var castType: String? {
        guard let list = parent?.as(ExprListSyntax.self) else {
            // `(value as? T)` is a separate sequence in parentheses.
            return nil
        }
        let elements = Array(list)
        guard let index = elements.firstIndex(where: { $0.id == id }), index + 2 < elements.count,
            elements[index + 1].is(UnresolvedAsExprSyntax.self) || elements[index + 1].is(UnresolvedIsExprSyntax.self)
        else { return nil }
        return elements[index + 2].trimmedDescription.withoutOptional
    }

    /// The constant that a declaration or an `if let` sets to this value, and its later references.
    fileprivate var assignedConstant: (name: String, references: [Syntax])? {
        var node = self
        while let parent = node.parent {
            if let clause = parent.as(InitializerClauseSyntax.self) {
                let pattern =
                    clause.parent?.as(PatternBindingSyntax.self)?.pattern
                    ?? clause.parent?.as(OptionalBindingConditionSyntax.self)?.pattern
                guard let name = pattern?.as(IdentifierPatternSyntax.self)?.identifier.identifierText else {
                    return nil
                }
                // Constants in the conditions of an `if` are valid in its body, all other constants to the end of the block.
                let scope = parent.ancestors.first {
                    $0.is(IfExprSyntax.self) || $0.is(CodeBlockItemListSyntax.self) || $0.is(MemberBlockSyntax.self)
                }
                guard let scope, !scope.is(MemberBlockSyntax.self) else { return nil }
                let collector = ReferenceCollector(name, after: parent.endPosition)
                collector.walk(scope)
                return (name, collector.found)
            }
            guard parent.isProtocol((any ExprSyntaxProtocol).self) || parent.is(ExprListSyntax.self) else { return nil }
            node = parent
        }
        return nil
    }

    /// The declared type of the variable that this expression initializes, or of the property or function that returns it.
    fileprivate var returningType: String? {
        var node = self
        while let parent = node.parent {
            if let binding = parent.as(PatternBindingSyntax.self) {
                return binding.typeAnnotation?.type.trimmedDescription
            }
            if let function = parent.as(FunctionDeclSyntax.self) {
                return function.signature.returnClause?.type.trimmedDescription
            }
            if let item = parent.as(CodeBlockItemListSyntax.self), item.returned.allSatisfy({ $0.id != self.id }) {
                return nil
            }
            if parent.is(ClosureExprSyntax.self) || parent.is(LabeledExprSyntax.self) || parent.is(ExprListSyntax.self)
                || parent.is(MemberBlockSyntax.self) || parent.is(ConditionElementSyntax.self)
                || parent.is(MemberAccessExprSyntax.self)
            {
                return nil
            }
            node = parent
        }
        return nil
    }
}

private final class ReferenceCollector: SyntaxVisitor {
    let name: String
    let start: AbsolutePosition
    var found: [Syntax] = []

    init(_ name: String, after start: AbsolutePosition) {
        self.name = name
        self.start = start
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        if node.baseName.identifierText == name, node.position >= start { found.append(Syntax(node)) }
        return .visitChildren
    }
}
