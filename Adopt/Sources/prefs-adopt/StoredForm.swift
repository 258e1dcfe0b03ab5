import SwiftSyntax

/// The declaration in a group for a type in the sources.
enum StoredForm {
    /// A type that the library supports, as it is written in a group.
    case native(String)
    /// An array, a set or a dictionary, with the project's types that it contains.
    case collection(String, of: [Declarations.TypeDeclaration])
    /// An enum with raw values.
    case rawValues(Declarations.TypeDeclaration, raw: String)
    case codable(Declarations.TypeDeclaration)
    /// A property list without a known type.
    case untyped
    /// A type that a group can't use, with the reason.
    case unusable(String)

    /// The text of the type in a group.
    var name: String? {
        switch self {
        case .native(let name), .collection(let name, _): name
        case .rawValues(let type, _), .codable(let type): type.name
        case .untyped, .unusable: nil
        }
    }

    /// The type of the stored value, to compare uses.
    var storedName: String? {
        switch self {
        case .collection(let name, _): name
        case .native(let name): ["Float", "CGFloat"].contains(name) ? "Double" : name
        case .rawValues(_, let raw): raw
        case .codable(let type): type.name
        case .untyped, .unusable: nil
        }
    }

    /// The project's types that the group uses.
    var projectTypes: [Declarations.TypeDeclaration] {
        switch self {
        case .rawValues(let type, _), .codable(let type): [type]
        case .collection(_, let types): types
        default: []
        }
    }

    static let integers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    ]
    static let natives: Set<String> = integers.union([
        "Bool", "Float", "Double", "String", "Data", "Date", "URL", "UUID", "Decimal", "Locale", "TimeZone",
        "Character",
    ])
}

extension Declarations {
    /// Returns the stored form of a type by its name at a node.
    func storedForm(of typeName: String, at node: some SyntaxProtocol) -> StoredForm {
        let name = typeName.trimmedSpaces.withoutOptional
        let alias = [
            "TimeInterval": "Double", "CGFloat": "Double", "NSString": "String", "NSData": "Data", "NSDate": "Date",
        ]
        if let native = alias[name] ?? (StoredForm.natives.contains(name) ? name : nil) { return .native(native) }
        if name == "Any" || name.contains("Any") || name.hasPrefix("NS") { return .untyped }
        if let (outer, arguments) = name.collection {
            var forms: [String] = []
            var types: [TypeDeclaration] = []
            for argument in arguments {
                switch storedForm(of: argument, at: node) {
                case .native(let name): forms.append(name)
                case .collection(let name, let inner):
                    forms.append(name)
                    types += inner
                case .rawValues(let type, _), .codable(let type):
                    guard isCodable(type) else {
                        return .unusable("\(type.name) in a collection must conform to PreferenceValue or Codable")
                    }
                    forms.append(type.name)
                    types.append(type)
                case .untyped: return .untyped
                case .unusable(let reason): return .unusable(reason)
                }
            }
            return switch outer {
            case "Set": .collection("Set<\(forms[0])>", of: types)
            case "Dictionary": .collection("[\(forms[0]): \(forms[1])]", of: types)
            default: .collection("[\(forms[0])]", of: types)
            }
        }
        guard let type = type(named: name, at: node) else { return .unusable("\(name) isn't declared in the sources") }
        guard !type.isHidden else { return .unusable("\(type.name) is private") }
        guard type.generics.isEmpty else { return .unusable("\(type.name) is generic") }
        if type.node.is(EnumDeclSyntax.self), let raw = type.inherited.first, !type.cases.isEmpty,
            raw == "String" || StoredForm.integers.contains(raw) || raw == "Double"
        {
            return .rawValues(type, raw: raw)
        }
        guard !type.node.is(ClassDeclSyntax.self) else { return .unusable("\(type.name) is a class") }
        return isCodable(type)
            ? .codable(type) : .unusable("\(type.name) is neither Codable nor an enum with raw values")
    }

    private func isCodable(_ type: TypeDeclaration) -> Bool {
        let all = inherited(by: type).flatMap { $0.split(separator: "&").map { String($0).trimmedSpaces } }
        return all.contains("Codable") || all.contains("PreferenceValue")
            || (all.contains("Encodable") && all.contains("Decodable"))
    }

    /// Returns the text of a default in a group, or `nil` if a group can't use it, and a text for comparing defaults.
    /// - Parameter form: The stored form of the preference.
    func written(_ fallback: Fallback, as form: StoredForm) -> (text: String?, comparable: String) {
        guard let expression = fallback.expression else { return (fits(fallback.text, form), fallback.text.asNumber) }
        if let literal = literal(expression, form) { return (fits(literal.text, form), literal.comparable.asNumber) }
        return (nil, fallback.text)
    }

    private func literal(_ expression: ExprSyntax, _ form: StoredForm, depth: Int = 0) -> (
        text: String, comparable: String
    )? {
        let expression = expression.unwrapped
        guard depth < 8 else { return nil }
        let text = expression.text
        switch expression.kind {
        case .booleanLiteralExpr, .integerLiteralExpr, .floatLiteralExpr: return (text, text)
        case .stringLiteralExpr:
            guard let name = keys(expression).first?.name else { return nil }
            return (name.literal, name.literal)
        case .prefixOperatorExpr:
            guard text.hasPrefix("-"), text.dropFirst().allSatisfy({ $0.isNumber || $0 == "." || $0 == "_" }) else {
                return nil
            }
            return (text, text)
        case .arrayExpr:
            let values = expression.as(ArrayExprSyntax.self)?.elements.map {
                literal($0.expression, .untyped, depth: depth + 1)?.text
            }
            guard let values, values.allSatisfy({ $0 != nil }) else { return nil }
            let list = "[" + values.compactMap(\.self).joined(separator: ", ") + "]"
            return (list, list)
        case .dictionaryExpr:
            guard case .elements(let elements)? = expression.as(DictionaryExprSyntax.self)?.content else {
                return ("[:]", "[:]")
            }
            var parts: [String] = []
            for element in elements {
                guard let key = literal(element.key, .untyped, depth: depth + 1),
                    let value = literal(element.value, .untyped, depth: depth + 1)
                else { return nil }
                parts.append(key.text + ": " + value.text)
            }
            let list = "[" + parts.joined(separator: ", ") + "]"
            return (list, list)
        case .functionCallExpr:
            guard let call = expression.as(FunctionCallExprSyntax.self) else { return nil }
            let callee = call.calledExpression.trimmedDescription
            if call.arguments.isEmpty {
                if callee.hasPrefix("Set") || callee.hasPrefix("Array")
                    || callee.hasPrefix("[") && !callee.contains(":")
                {
                    return ("[]", "[]")
                }
                if callee.hasPrefix("Dictionary") || callee.hasPrefix("[") { return ("[:]", "[:]") }
                if ["Date", "Data", "UUID", "String"].contains(callee) { return (text, text) }
            }
            if callee == "Set" || callee.hasPrefix("Set<"), call.arguments.count == 1, let only = call.arguments.first {
                return literal(only.expression, form, depth: depth + 1)
            }
            if ["Double", "Float", "CGFloat", "Int"].contains(callee), call.arguments.count == 1,
                let only = call.arguments.first
            {
                return literal(only.expression, form, depth: depth + 1)
            }
            return nil
        case .memberAccessExpr, .declReferenceExpr: return member(expression, form, depth)
        default: return nil
        }
    }

    private func member(_ expression: ExprSyntax, _ form: StoredForm, _ depth: Int) -> (
        text: String, comparable: String
    )? {
        let text = expression.text
        if ["Date.now", "Date.distantPast", "Date.distantFuture"].contains(text) { return (text, text) }
        if case .native("Date") = form, [".now", ".distantPast", ".distantFuture"].contains(text) {
            return ("Date" + text, "Date" + text)
        }
        if case .native("Locale") = form, [".current", "Locale.current"].contains(text) {
            return ("Locale.current", "Locale.current")
        }
        if case .native("Data") = form, text == ".init()" { return ("Data()", "Data()") }
        var base = expression
        if let member = expression.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "rawValue",
            let inner = member.base
        {
            base = inner.unwrapped
        }
        let isRawValue = base.id != expression.id
        let found: Binding?
        if let member = base.as(MemberAccessExprSyntax.self), member.base == nil {
            guard let type = form.projectTypes.first else { return nil }
            found = self.member(member.declName.baseName.identifierText, of: type.name, at: type.node)
        } else {
            found = referenced(base)
        }
        switch found {
        case .enumCase(let name, _, let type):
            let raw = rawLiteral(name, of: type)
            if form.name == type.name { return (type.name + "." + name.escapedName, raw ?? "." + name) }
            return isRawValue ? raw.map { ($0, $0) } : nil
        case .value(let value, _) where !isRawValue: return literal(value, form, depth: depth + 1)
        case .value(let value, _):
            guard case .enumCase(let name, _, let type)? = referenced(value) else { return nil }
            if form.name == type.name {
                return (type.name + "." + name.escapedName, rawLiteral(name, of: type) ?? "." + name)
            }
            return rawLiteral(name, of: type).map { ($0, $0) }
        case .computed(let values, _) where values.count == 1 && !isRawValue:
            return literal(values[0], form, depth: depth + 1)
        default: return nil
        }
    }

    /// Returns the raw value of a case as a literal: the declared one, the name, or one more than that of the previous case.
    private func rawLiteral(_ name: String, of type: TypeDeclaration) -> String? {
        guard let raw = type.inherited.first else { return nil }
        var next = 0
        for (candidate, value) in type.cases {
            if let value {
                if candidate == name { return value.trimmedDescription }
                next = (Int(value.trimmedDescription) ?? 0) + 1
            } else {
                if candidate == name {
                    return raw == "String" ? name.literal : StoredForm.integers.contains(raw) ? "\(next)" : nil
                }
                next += 1
            }
        }
        return nil
    }

    /// Returns the text of a default, or `nil` if it doesn't have the preference's type.
    private func fits(_ text: String, _ form: StoredForm) -> String? {
        guard let name = form.name else { return nil }
        let isInteger = Int(text.filter { $0 != "_" }) != nil
        let isNumber = isInteger || Double(text.filter { $0 != "_" }) != nil
        switch name {
        case "Bool":
            return ["true", "false"].contains(text) ? text : text == "0" ? "false" : text == "1" ? "true" : nil
        case "String": return text.hasPrefix("\"") || text == "String()" ? text : nil
        case "Double", "Float": return isNumber ? text : nil
        case "Date", "Data", "UUID", "Locale": return text.hasPrefix(name) ? text : nil
        case _ where StoredForm.integers.contains(name): return isInteger || text.hasPrefix("0x") ? text : nil
        case _ where name.hasPrefix("[") && name.contains(":"):
            return text.hasPrefix("[") && (text == "[:]" || text.contains(":")) ? text : nil
        case _ where name.hasPrefix("[") || name.hasPrefix("Set<"):
            return text.hasPrefix("[") && text != "[:]" ? text : nil
        default:
            if case .rawValues(let type, _) = form,
                let found = type.cases.first(where: { rawLiteral($0.name, of: type) == text })
            {
                return name + "." + found.name.escapedName
            }
            return text.hasPrefix(name + ".") ? text : nil
        }
    }
}

extension String {
    /// The text as a Swift literal.
    var literal: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    fileprivate var asNumber: String { Double(self).map { "\($0)" } ?? self }

    /// The kind and the arguments of `[T]`, `[K: V]`, `Set<T>`, `Array<T>` and `Dictionary<K, V>`.
    fileprivate var collection: (String, [String])? {
        var inner: Substring
        var kind: String
        if hasPrefix("["), hasSuffix("]") {
            (kind, inner) = ("Array", dropFirst().dropLast())
        } else if let start = firstIndex(of: "<"), hasSuffix(">") {
            kind = String(self[..<start]).lastName
            inner = self[index(after: start)...].dropLast()
            guard ["Set", "Array", "Dictionary"].contains(kind) else { return nil }
        } else {
            return nil
        }
        var depth = 0
        for (index, character) in zip(inner.indices, inner) {
            if "[<(".contains(character) { depth += 1 }
            if "]>)".contains(character) { depth -= 1 }
            guard depth == 0, character == ":" || character == "," else { continue }
            return (
                "Dictionary",
                [String(inner[..<index]).trimmedSpaces, String(inner[inner.index(after: index)...]).trimmedSpaces]
            )
        }
        return (kind, [String(inner).trimmedSpaces])
    }
}
