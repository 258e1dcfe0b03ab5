import PreferencesTesting
import TestSupport
import Testing

/// Each fault of a backend is caught by the rule that it breaks.
struct PlantedFaultTests {
    @Test
    func backendWithoutAFaultPasses() async throws {
        try await PreferenceBackendContract.verify { MemoryPlace.make() }
    }

    @Test(
        arguments: [
            (.storesTheFirstChangeOnly, "All changes of a set are stored"),
            (.storesOneChangeAfterAnother, "A set of changes is read whole or not at all"),
            (.storesPartOfARejectedApply, "A rejected apply changes nothing, and a later one is stored"),
            (.ignoresConditions, "Changes are rejected if a listed name has another value"),
            (.ignoresAbsence, "Changes are rejected if a name that must be absent is stored"),
            (.ignoresCompleteness, "Changes are rejected if a complete condition doesn't list a stored name"),
            (.comparesWithWhatItKnew, "A condition is compared with the latest stored values"),
            (.keepsRemovedNames, "nil removes a name"),
            (.echoesItsOwnChanges, "An instance's own changes aren't external changes"),
            (
                .dropsExternalChangesInApply,
                "apply and catchUp pass on all external changes, and none that is outdated"
            ),
            (.dropsExternalChangesOfARejectedApply, "A rejected apply passes on external changes, too"),
            (.passesOnOutdatedChanges, "catchUp passes on all external changes, and none that is outdated"),
            (.passesOnNoRemovals, "catchUp passes on all external changes, and none that is outdated"),
            (.announcesNothing, "host.changed is called after an external change"),
            (.storesBeforeItFails, "A failed apply stores nothing, and the next one works"),
            (.dropsExternalChangesWhenItFails, "A failed apply loses no external change"),
            (.storesWholeRealsAsIntegers, "Every value is read back with its type and bits"),
            (.cutsDatesToSeconds, "Every value is read back with its type and bits"),
            (.foldsTheCaseOfNames, "Different names have different values"),
            (.holdsAThousandNames, "Thousands of names can be stored and changed at once"),
            (.failsToSync, "sync works at any time and keeps the stored values"),
        ] as [(PlantedFault, String)]
    )
    func faultIsCaughtByTheRuleThatItBreaks(fault: PlantedFault, rule: String) async {
        let error = await #expect(throws: PreferenceBackendContractError.self) {
            try await PreferenceBackendContract.verify(patience: .milliseconds(20)) { MemoryPlace.make(fault) }
        }
        same(error?.violations.contains { $0.rule == rule }, true)
    }
}
