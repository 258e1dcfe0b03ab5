import SwiftSyntax

/// A writer of preference groups that declare the keys.
struct GroupWriter {
    let name: String
    let findings: [Finding]
    /// Whether the sources have a type `Preference`, which would hide the library's.
    var isNameTaken = false

    /// The groups, one for each store, with comments for keys that are computed at run time.
    var text: String {
        var stores: [Store] = []
        for finding in findings where !stores.contains(finding.store) { stores.append(finding.store) }
        var names: Set<String> = []
        let groups = stores.map { store in
            var groupName = name + store.nameSuffix
            var number = 2
            while !names.insert(groupName).inserted {
                groupName = name + store.nameSuffix + "\(number)"
                number += 1
            }
            return group(groupName, store)
        }
        return "// Written by prefs-adopt: read each default and each TODO.\n\nimport Foundation\nimport Preferences\n"
            + groups.map { "\n" + $0 }.joined()
    }

    private func group(_ groupName: String, _ store: Store) -> String {
        let members = findings.filter { $0.store == store }
        var lines: [String] = []
        if case .computed(let expression) = store {
            lines.append("// TODO: `in:` with a store over \(expression)")
        }
        lines.append("struct \(groupName): PreferenceGroup {")
        var names: Set<String> = []
        for (index, finding) in members.filter({ $0.resolution == .known }).enumerated() {
            if index > 0 { lines.append("") }
            lines += property(finding, &names).map { "    " + $0 }
        }
        for (resolution, title) in [
            (Finding.Resolution.pattern, "Names with computed parts; use a group in `store.scoped(prefix:)` for each:"),
            (.computed, "Computed names:"),
        ] {
            let others = members.filter { $0.resolution == resolution }
            if !others.isEmpty {
                if lines.count > 1 { lines.append("") }
                lines.append("    // \(title)")
                for finding in others {
                    let type = finding.type.map { ": \($0.name)" } ?? ""
                    lines.append("    // \(finding.name)\(type) (\(finding.uses[0].place))")
                }
            }
        }
        lines.append("}")
        return lines.joined(separator: "\n") + "\n"
    }

    private func property(_ finding: Finding, _ names: inout Set<String>) -> [String] {
        var lines = ["// Used in \(places(finding.uses.map(\.place)))"]
        for conflict in finding.conflicts {
            let values = conflict.values.map { "\($0.text) (\(places($0.places)))" }
            lines.append("// conflicting \(conflict.subject): \(values.joined(separator: ", "))")
        }
        var type = finding.form.name
        var text = finding.writtenDefault
        if type == nil {
            if case .unusable(let reason) = finding.form {
                lines.append("// TODO: type: \(finding.type?.name ?? "?"): \(reason)")
                type = finding.storedMethodType
            }
            text = nil
        }
        if text == nil, let fallback = finding.fallback {
            lines.append("// TODO: default: \(fallback.text)")
        }
        var arguments = [finding.name.literal]
        if let coding = finding.type?.coding, type != nil, finding.form.name != nil {
            arguments.append("coding: \(coding)")
        }
        if case .suite(let suite) = finding.store { arguments.append("in: .suite(\(suite.literal))") }
        let declaration =
            "@\(isNameTaken ? "Preferences." : "")Preference(\(arguments.joined(separator: ", "))) var \(propertyName(finding.name, &names))"
        switch (type, text) {
        case (let type?, let text?):
            lines.append(declaration + (text.implies(type) ? "" : ": \(type)") + " = \(text)")
        case (let type?, nil): lines.append(declaration + ": \(type)?")
        case (nil, _): lines.append(declaration + ": PropertyListValue?")
        }
        return lines
    }

    private func places(_ places: [Place]) -> String {
        let texts = places.map { "\($0.path):\($0.line)" }.unique
        return texts.prefix(3).joined(separator: ", ") + (texts.count > 3 ? " and \(texts.count - 3) more" : "")
    }

    /// Returns the key in camel case; a name that is already used gets a number.
    private func propertyName(_ key: String, _ names: inout Set<String>) -> String {
        var name = key.camelCase
        if name.isEmpty || name.first?.isNumber == true { name = "_" + name }
        var unique = name
        var number = 2
        while !names.insert(unique).inserted {
            unique = name + "\(number)"
            number += 1
        }
        return unique.escapedName
    }

    /// Declarations of the project's types that the groups use, so that the groups compile without the project.
    var stubs: String {
        var seen: Set<String> = []
        var text = ""
        for finding in findings where finding.resolution == .known {
            for type in finding.mentionedTypes where seen.insert(type.name).inserted {
                let cases = type.cases.map {
                    "case " + $0.name.escapedName + ($0.rawValue.map { " = \($0.trimmedDescription)" } ?? "")
                }
                let isRaw =
                    type.node.is(EnumDeclSyntax.self) && !(type.inherited.first ?? "").contains("Codable")
                    && !cases.isEmpty
                var stub =
                    isRaw && type.inherited.first.map { StoredForm.natives.contains($0) } == true
                    ? "enum \(type.path.last ?? ""): \(type.inherited[0]), Codable { \(cases.joined(separator: "; ")) }"
                    : "struct \(type.path.last ?? ""): Codable, Hashable, Sendable { \(type.cases.map { "static let \($0.name.escapedName) = Self()" }.joined(separator: "; ")) }"
                for outer in type.path.dropLast().reversed() { stub = "extension \(outer) { \(stub) }" }
                if let outer = type.path.dropLast().first, type.path.count == 2 {
                    if seen.insert(outer).inserted { text += "enum \(outer) {}\n" }
                }
                text += stub + "\n"
            }
        }
        return text
    }
}

extension Finding {
    /// The type of the methods that read and write a value whose type a group can't use.
    fileprivate var storedMethodType: String? {
        uses.lazy.compactMap { $0.type }.first { $0.exactness == .stored && StoredForm.natives.contains($0.name) }?.name
    }

    fileprivate var mentionedTypes: [Declarations.TypeDeclaration] { form.projectTypes }
}

extension Store {
    fileprivate var nameSuffix: String {
        switch self {
        case .standard, .caller: ""
        case .suite(let name): "In" + name.camelCase.capitalizedFirst
        case .computed: "InOtherStore"
        }
    }
}

extension String {
    /// The letters and digits, with a capital after other characters, and with a capital or an abbreviation at the start in lower case.
    fileprivate var camelCase: String {
        let words = split { !($0.isLetter || $0.isNumber) }
        guard var first = words.first.map(String.init) else { return "" }
        let capitals = first.prefix { $0.isUppercase }
        if capitals.count == first.count || capitals.count == 1 {
            first = capitals.lowercased() + first.dropFirst(capitals.count)
        } else if capitals.count > 1 {
            first = capitals.dropLast().lowercased() + first.dropFirst(capitals.count - 1)
        }
        return first + words.dropFirst().map { String($0).capitalizedFirst }.joined()
    }

    fileprivate var capitalizedFirst: String { (first?.uppercased() ?? "") + dropFirst() }

    /// Returns whether a default needs no type annotation.
    fileprivate func implies(_ type: String) -> Bool {
        switch type {
        case "Bool", "String", "Int": true
        case "Double": contains(".")
        case _ where StoredForm.natives.contains(type): hasPrefix(type)
        default: hasPrefix(type + ".")
        }
    }

    var escapedName: String {
        let keywords: Set = [
            "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
            "else",
            "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
            "init",
            "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat", "rethrows",
            "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
            "typealias", "var", "where", "while", "Any", "Self", "Type",
        ]
        return keywords.contains(self) ? "`\(self)`" : self
    }
}
