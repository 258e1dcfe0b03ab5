import PreferencesTesting
import Testing

/// Each fault of a backend is caught by the rule that it breaks.
struct PlantedFaultTests {
    @Test
    func backendWithoutAFaultPasses() async throws {
        try await PreferenceBackendContract.verify { MemoryPlace.make() }
    }

    @Test
    func backendThatStoresTheFirstChangeOnlyIsCaught() async {
        await expect(.storesTheFirstChangeOnly, breaks: "All changes of a set are stored")
    }

    @Test
    func backendWhoseChangesAreSeenHalfIsCaught() async {
        await expect(.storesOneChangeAfterAnother, breaks: "A set of changes is read whole or not at all")
    }

    @Test
    func backendThatStoresPartOfARejectedApplyIsCaught() async {
        await expect(.storesPartOfARejectedApply, breaks: "A rejected apply changes nothing, and a later one is stored")
    }

    @Test
    func backendThatIgnoresConditionsIsCaught() async {
        await expect(.ignoresConditions, breaks: "Changes are rejected if a listed name has another value")
    }

    @Test
    func backendThatIgnoresAbsenceIsCaught() async {
        await expect(.ignoresAbsence, breaks: "Changes are rejected if a name that must be absent is stored")
    }

    @Test
    func backendThatIgnoresCompletenessIsCaught() async {
        await expect(
            .ignoresCompleteness,
            breaks: "Changes are rejected if a complete condition doesn't list a stored name"
        )
    }

    @Test
    func backendThatComparesWithWhatItKnewIsCaught() async {
        await expect(
            .comparesWithWhatItKnew,
            breaks: "A condition is compared with the latest stored values"
        )
    }

    @Test
    func backendThatKeepsRemovedNamesIsCaught() async {
        await expect(.keepsRemovedNames, breaks: "nil removes a name")
    }

    @Test
    func backendThatEchoesItsOwnChangesIsCaught() async {
        await expect(.echoesItsOwnChanges, breaks: "An instance's own changes aren't external changes")
    }

    @Test
    func backendThatDropsExternalChangesInApplyIsCaught() async {
        await expect(
            .dropsExternalChangesInApply,
            breaks: "apply and catchUp pass on all external changes, and none that is outdated"
        )
    }

    @Test
    func backendThatDropsExternalChangesOfARejectedApplyIsCaught() async {
        await expect(.dropsExternalChangesOfARejectedApply, breaks: "A rejected apply passes on external changes, too")
    }

    @Test
    func backendThatPassesOnOutdatedChangesIsCaught() async {
        await expect(
            .passesOnOutdatedChanges,
            breaks: "catchUp passes on all external changes, and none that is outdated"
        )
    }

    @Test
    func backendThatPassesOnNoRemovalsIsCaught() async {
        await expect(.passesOnNoRemovals, breaks: "catchUp passes on all external changes, and none that is outdated")
    }

    @Test
    func backendThatAnnouncesNothingIsCaught() async {
        await expect(
            .announcesNothing,
            breaks: "host.changed is called after an external change"
        )
    }

    @Test
    func backendThatStoresBeforeItFailsIsCaught() async {
        await expect(.storesBeforeItFails, breaks: "A failed apply stores nothing, and the next one works")
    }

    @Test
    func backendThatDropsExternalChangesWhenItFailsIsCaught() async {
        await expect(.dropsExternalChangesWhenItFails, breaks: "A failed apply loses no external change")
    }

    @Test
    func backendThatStoresWholeRealsAsIntegersIsCaught() async {
        await expect(.storesWholeRealsAsIntegers, breaks: "Every value is read back with its type and bits")
    }

    @Test
    func backendThatCutsDatesToSecondsIsCaught() async {
        await expect(.cutsDatesToSeconds, breaks: "Every value is read back with its type and bits")
    }

    @Test
    func backendThatFoldsTheCaseOfNamesIsCaught() async {
        await expect(.foldsTheCaseOfNames, breaks: "Different names have different values")
    }

    @Test
    func backendThatHoldsAThousandNamesIsCaught() async {
        await expect(.holdsAThousandNames, breaks: "Thousands of names can be stored and changed at once")
    }

    @Test
    func backendThatFailsToSyncIsCaught() async {
        await expect(.failsToSync, breaks: "sync works at any time and keeps the stored values")
    }

    private func expect(
        _ fault: PlantedFault,
        breaks rule: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: PreferenceBackendContractError.self, sourceLocation: sourceLocation) {
            try await PreferenceBackendContract.verify(patience: .milliseconds(20)) { MemoryPlace.make(fault) }
        }
        let rules = error?.violations.map(\.rule) ?? []
        #expect(rules.contains(rule), sourceLocation: sourceLocation)
    }
}
