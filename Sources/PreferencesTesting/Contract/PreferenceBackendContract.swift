public import Preferences

/// What every backend must do, as `PreferenceBackend` says it, to be proved of a backend of one's own.
///
///     @Test func backendKeepsTheContract() async throws {
///         try await PreferenceBackendContract.verify { MyBackend() }
///     }
///
/// A backend whose place several processes can use is proved with two instances over one place; that is what shows
/// whether outside changes arrive:
///
///     try await PreferenceBackendContract.verify {
///         let url = temporaryFolder.appending(path: UUID().uuidString)
///         return PreferenceBackendPlace { MyBackend(url) }
///     }
public enum PreferenceBackendContract {
    /// Proves a backend that nobody else can change; throws all rules that it breaks.
    ///
    /// - Parameter make: Makes a backend in a new and empty place; called for each rule.
    public nonisolated(nonsending) static func verify(
        _ make: @escaping @Sendable () throws -> any PreferenceBackend
    ) async throws(PreferenceBackendContractError) {
        try await verify(patience: .zero) { PreferenceBackendPlace(isShared: false, open: make) }
    }

    /// Proves a backend that others can change; throws all rules that it breaks.
    ///
    /// - Parameters:
    ///   - patience: How long a change of one instance may take to be told to another.
    ///   - makePlace: Makes a new and empty place; called for each rule.
    public nonisolated(nonsending) static func verify(
        patience: Duration = .seconds(10),
        _ makePlace: () throws -> PreferenceBackendPlace
    ) async throws(PreferenceBackendContractError) {
        var violations: [PreferenceBackendContractError.Violation] = []
        for clause in clauses {
            var findings: [String] = []
            do {
                let trial = Trial(of: try makePlace(), patience: patience)
                guard clause.applies(to: trial.place) else { continue }
                do { try await clause.check(trial) } catch { trial.note("\(error)") }
                findings = trial.findings
            } catch {
                findings = ["the backend could not be made: \(error)"]
            }
            violations += findings.map { .init(rule: clause.rule, finding: $0) }
        }
        guard violations.isEmpty else { throw PreferenceBackendContractError(violations: violations) }
    }

    static var clauses: [Clause] {
        applyingClauses + conditionClauses + contentClauses + outsideClauses + concurrentClauses + failingClauses
    }
}

/// Which rules of the contract a backend breaks, and how it showed.
public struct PreferenceBackendContractError: Error, Hashable, CustomStringConvertible {
    /// A broken rule.
    public struct Violation: Hashable, Sendable {
        /// The rule, as one sentence.
        public let rule: String
        /// What the backend did.
        public let finding: String
    }

    /// The broken rules, in the order in which they were tried.
    public let violations: [Violation]

    /// All of them, one a line.
    public var description: String {
        "the backend breaks its contract:\n" + violations.map { "- \($0.rule): \($0.finding)" }.joined(separator: "\n")
    }
}

/// One rule and how to try it.
struct Clause: Sendable {
    enum Need: Sendable {
        /// Other instances over the same place.
        case others
        /// A way to make writes fail.
        case failure
    }

    let rule: String
    let needs: Set<Need>
    let check: @Sendable (Trial) async throws -> Void

    init(_ rule: String, needs: Set<Need> = [], _ check: @escaping @Sendable (Trial) async throws -> Void) {
        self.rule = rule
        self.needs = needs
        self.check = check
    }

    func applies(to place: PreferenceBackendPlace) -> Bool {
        (!needs.contains(.others) || place.isShared) && (!needs.contains(.failure) || place.failNextWrite != nil)
    }
}
