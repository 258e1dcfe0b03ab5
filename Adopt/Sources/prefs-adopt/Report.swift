#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Findings as text, as JSON and as warnings of the compiler.
struct Report {
    let findings: [Finding]
    let fileCount: Int

    var text: String {
        var result = ""
        var store: Store?
        for finding in findings {
            if finding.store != store, finding.store != .standard || store != nil {
                result += "\(finding.store.title):\n\n"
            }
            store = finding.store
            result += "\(finding.title)\n"
            for conflict in finding.conflicts {
                result += "    conflicting \(conflict.subject):\n"
                for (text, places) in conflict.values {
                    result += "        \(text)  \(places.map { "\($0)" }.joined(separator: ", "))\n"
                }
            }
            for use in finding.uses {
                let kind = use.kind.rawValue
                result += "    \(kind)\(String(repeating: " ", count: 9 - kind.count))\(use.place)\n"
            }
            result += "\n"
        }
        return result + summary + "\n"
    }

    var summary: String {
        func count(_ resolution: Finding.Resolution) -> Int { findings.count { $0.resolution == resolution } }
        func keys(_ number: Int) -> String { number == 1 ? "1 key" : "\(number) keys" }
        var parts = ["\(keys(count(.known))) in \(fileCount == 1 ? "1 file" : "\(fileCount) files")"]
        let conflicts = findings.count { !$0.conflicts.isEmpty }
        if conflicts > 0 { parts.append("\(conflicts) with conflicts") }
        if count(.pattern) > 0 { parts.append("\(count(.pattern)) with computed parts") }
        if count(.computed) > 0 { parts.append("\(count(.computed)) computed at run time") }
        return parts.joined(separator: ", ")
    }

    /// A warning for each use, in the compiler's format, so that Xcode shows it.
    var warnings: [String] {
        let uses = findings.flatMap { finding in finding.uses.map { ($0.place, finding) } }
        return uses.sorted { $0.0 < $1.0 }.map { place, finding in
            let key = finding.resolution == .computed ? finding.name : "\"\(finding.name)\""
            return "\(place): warning: the key \(key) of \(finding.store.subject) is used without a preference; "
                + "declare it in a preference group"
        }.unique
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(findings.map(Key.init)), as: UTF8.self) + "\n"
    }

    private struct Key: Encodable {
        struct Use: Encodable {
            let place: String
            let kind: String
            let type: String?
            let `default`: String?
        }
        struct Conflict: Encodable {
            let subject: String
            let values: [String: [String]]
        }
        let key: String
        let resolution: String
        let suite: String?
        let store: String?
        let type: String?
        let `default`: String?
        let conflicts: [Conflict]
        let uses: [Use]

        init(_ finding: Finding) {
            key = finding.name
            resolution = finding.resolution.rawValue
            suite = if case .suite(let name) = finding.store { name } else { nil }
            store = if case .computed(let text) = finding.store { text } else { nil }
            type = finding.type?.name
            `default` = finding.fallback?.text
            conflicts = finding.conflicts.map { conflict in
                Conflict(
                    subject: conflict.subject,
                    values: Dictionary(conflict.values.map { ($0.text, $0.places.map(\.description)) }) { $0 + $1 }
                )
            }
            uses = finding.uses.map {
                Use(place: "\($0.place)", kind: $0.kind.rawValue, type: $0.type?.name, default: $0.fallback?.text)
            }
        }
    }
}

extension Finding {
    fileprivate var title: String {
        var text = resolution == .computed ? "(computed) \(name)" : "\"\(name)\""
        if let type { text += ": \(type.name)" + (fallback == nil && resolution == .known ? "?" : "") }
        if let fallback { text += " = \(fallback.text)" }
        return text
    }
}

extension Store {
    fileprivate var title: String {
        switch self {
        case .standard, .caller: "UserDefaults.standard"
        case .suite(let name): "suite \"\(name)\""
        case .computed(let expression): "store \(expression)"
        }
    }

    fileprivate var subject: String {
        switch self {
        case .standard, .caller: "UserDefaults"
        default: title
        }
    }
}
