import PreferencesTesting
import TestSupport
import Testing

/// Each fault of a backend is caught by the rule that it breaks.
struct PlantedFaultTests {
    @Test
    func backendWithoutAFaultPasses() async throws {
        try await PreferenceBackendContract.verify { MemoryPlace.make() }
        try await PreferenceBackendContract.verify { MemoryPlaceBackend(MemoryPlace()) }
    }

    private static let stored = "All changes are stored, nil removes a name, and other names keep their values"
    private static let values = "Every value is read back with its type and bits"
    private static let catchesUp = "catchUp passes on all external changes, and none that is outdated"
    private static let failing = "A failed change stores nothing and loses no external change"
    private static let throwing = "An error of the body is thrown on, and nothing is stored"
    private static let deadline = "A change in a body of another instance ends at its deadline and isn't overwritten"

    @Test(
        arguments: [
            (.beginsWithAValue, "A new place is empty"),
            (.storesTheFirstChangeOnly, stored),
            (.keepsRemovedNames, stored),
            (.echoesItsOwnChanges, "An instance's own changes aren't external changes"),
            (.failsToSync, "sync works at any time and keeps the stored values"),
            (.runsTheBodyTwice, "The body runs once if nobody else changes the place"),
            (.wrapsErrors, throwing),
            (.storesDespiteAnError, throwing),
            (
                .dropsExternalChangesInChange,
                "The body gets what others have changed, and a body that throws loses nothing of it"
            ),
            (.dropsExternalChangesInChange, "An external change before a change is passed on, and replaced by it"),
            (.waitsPastItsDeadline, deadline),
            (.waitsWithoutSaying, deadline),
            (.storesOverOthers, deadline),
            (.storesWholeRealsAsIntegers, values),
            (.cutsDatesToSeconds, values),
            (.foldsTheCaseOfNames, "Any string that isn't empty is a name"),
            (.foldsTheCaseOfNames, "Different names have different values"),
            (.holdsAThousandNames, "Thousands of names can be stored and changed at once"),
            (.passesOnOutdatedChanges, catchesUp),
            (.passesOnNoRemovals, catchesUp),
            (.announcesNothing, "host.changed is called after an external change"),
            (.storesOneChangeAfterAnother, "Changes are read together or not at all"),
            (.storesOverOthers, "No change of racing instances is based on outdated values"),
            (.passesOnNoRemovals, "An instance's own and external changes add up to the stored values"),
            (.storesBeforeItFails, failing),
            (.dropsExternalChangesWhenItFails, failing),
        ] as [(PlantedFault, String)]
    )
    func faultIsCaughtByTheRuleThatItBreaks(fault: PlantedFault, rule: String) async {
        let error = await #expect(throws: PreferenceBackendContractError.self) {
            try await PreferenceBackendContract.verify(patience: .milliseconds(20)) { MemoryPlace.make(fault) }
        }
        #expect(error?.violations.contains { $0.rule == rule } == true, "\(error?.description ?? "")")
    }
}
