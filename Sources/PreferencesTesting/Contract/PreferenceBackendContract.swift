public import Preferences

/// A check that a custom backend keeps the rules that `PreferenceBackend` documents.
///
///     @Test func backendKeepsTheContract() async throws {
///         try await PreferenceBackendContract.verify {
///             let url = temporaryFolder.appending(path: UUID().uuidString)
///             return PreferenceBackendPlace { MyBackend(url) }
///         }
///     }
///
/// Most rules need several instances over one place. Without, little can be checked, as only another instance shows what is stored:
///
///     try await PreferenceBackendContract.verify { MyBackend() }
public enum PreferenceBackendContract {
    /// Checks a backend whose values nothing else can read or change; throws all violations.
    ///
    /// - Parameter make: Creates a backend in a new and empty place; called for each rule.
    public nonisolated(nonsending) static func verify(
        _ make: @escaping @Sendable () throws -> any PreferenceBackend
    ) async throws(PreferenceBackendContractError) {
        try await verify(patience: .zero) { PreferenceBackendPlace(isShared: false, open: make) }
    }

    /// Checks a backend whose place several instances can use; throws all violations.
    ///
    /// - Parameters:
    ///   - patience: The time within which a change by one instance must be reported to another.
    ///   - makePlace: Creates a new and empty place; called for each rule.
    public nonisolated(nonsending) static func verify(
        patience: Duration = .seconds(10),
        _ makePlace: () throws -> PreferenceBackendPlace
    ) async throws(PreferenceBackendContractError) {
        var violations: [PreferenceBackendContractError.Violation] = []
        for rule in rules {
            var findings: [String] = []
            do {
                let trial = try Trial(of: makePlace(), patience: patience)
                guard rule.needs.isSubset(of: trial.offers) else { continue }
                do { try await rule.check(trial) } catch { trial.note("\(error)") }
                findings = trial.findings
            } catch {
                findings = ["the backend could not be created: \(error)"]
            }
            violations += findings.map { .init(rule: rule.name, finding: $0) }
        }
        guard violations.isEmpty else { throw PreferenceBackendContractError(violations: violations) }
    }

    static var rules: [Rule] { changeRules + bodyRules + contentRules + externalRules + concurrentRules + failingRules }
}

/// The rules of the contract that a backend violates, with the findings.
public struct PreferenceBackendContractError: Error, Hashable, CustomStringConvertible {
    /// A broken rule.
    public struct Violation: Hashable, Sendable {
        /// The rule, as one sentence.
        public let rule: String
        /// The backend's behaviour that violates the rule.
        public let finding: String
    }

    /// The violations, in the order in which the rules were checked.
    public let violations: [Violation]

    /// All violations, one a line.
    public var description: String {
        "the backend breaks its contract:\n" + violations.map { "- \($0.rule): \($0.finding)" }.joined(separator: "\n")
    }
}

/// A rule and its check.
struct Rule: Sendable {
    enum Need: Sendable {
        /// Several instances over the same place.
        case sharedPlace
        /// A place that nobody else changes while a body runs, or that notices it; those that are asked for single names have none.
        case atomicity
        /// A way to make writes fail.
        case failure
    }

    let name: String
    let needs: Set<Need>
    let check: @Sendable (Trial) async throws -> Void

    init(
        _ name: String,
        needs: Set<Need> = [.sharedPlace],
        _ check: @escaping @Sendable (Trial) async throws -> Void
    ) {
        (self.name, self.needs, self.check) = (name, needs, check)
    }
}
