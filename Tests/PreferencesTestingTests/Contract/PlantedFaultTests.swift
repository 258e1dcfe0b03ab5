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
        await expect(.storesTheFirstChangeOnly, breaks: "All of a set of changes is stored")
    }

    @Test
    func backendWhoseChangesAreSeenHalfIsCaught() async {
        await expect(.storesOneChangeAfterAnother, breaks: "Nobody sees half of a set of changes")
    }

    @Test
    func backendThatStoresPartOfARefusedSetIsCaught() async {
        await expect(.storesPartOfARefusedSet, breaks: "A refused set changes nothing, and a later one is stored")
    }

    @Test
    func backendThatIgnoresConditionsIsCaught() async {
        await expect(.ignoresConditions, breaks: "Changes are refused where a listed name has another value")
    }

    @Test
    func backendThatTakesAbsentForAnythingIsCaught() async {
        await expect(.takesAbsentForAnything, breaks: "Changes are refused where a name is stored that must be absent")
    }

    @Test
    func backendThatIgnoresCompletenessIsCaught() async {
        await expect(
            .ignoresCompleteness,
            breaks: "Changes are refused where a complete condition doesn't list a stored name"
        )
    }

    @Test
    func backendThatComparesWithWhatItKnewIsCaught() async {
        await expect(
            .comparesWithWhatItKnew,
            breaks: "A condition is compared with what others have stored meanwhile"
        )
    }

    @Test
    func backendThatKeepsRemovedNamesIsCaught() async {
        await expect(.keepsRemovedNames, breaks: "nil removes a name")
    }

    @Test
    func backendThatEchoesItsOwnChangesIsCaught() async {
        await expect(.echoesItsOwnChanges, breaks: "An instance's own changes are not outside changes")
    }

    @Test
    func backendThatDropsOutsideChangesInApplyIsCaught() async {
        await expect(
            .dropsOutsideChangesInApply,
            breaks: "apply and refresh return what others changed, and nothing that is outdated"
        )
    }

    @Test
    func backendThatDropsOutsideChangesOfARefusedSetIsCaught() async {
        await expect(.dropsOutsideChangesOfARefusedSet, breaks: "A refused apply returns what others changed, too")
    }

    @Test
    func backendThatTellsOutdatedChangesIsCaught() async {
        await expect(.tellsOutdatedChanges, breaks: "refresh returns what others changed, and nothing that is outdated")
    }

    @Test
    func backendThatTellsNoRemovalsIsCaught() async {
        await expect(.tellsNoRemovals, breaks: "refresh returns what others changed, and nothing that is outdated")
    }

    @Test
    func backendThatAnnouncesNothingIsCaught() async {
        await expect(
            .announcesNothing,
            breaks: "host.changed is called after somebody else changed something"
        )
    }

    @Test
    func backendThatStoresBeforeItFailsIsCaught() async {
        await expect(.storesBeforeItFails, breaks: "A failed apply stores nothing, and the next one works")
    }

    @Test
    func backendThatDropsOutsideChangesWhenItFailsIsCaught() async {
        await expect(.dropsOutsideChangesWhenItFails, breaks: "A failed apply loses no outside change")
    }

    @Test
    func backendThatStoresWholeRealsAsIntegersIsCaught() async {
        await expect(.storesWholeRealsAsIntegers, breaks: "Every value comes back with its kind and bits")
    }

    @Test
    func backendThatCutsDatesToSecondsIsCaught() async {
        await expect(.cutsDatesToSeconds, breaks: "Every value comes back with its kind and bits")
    }

    @Test
    func backendThatFoldsTheCaseOfNamesIsCaught() async {
        await expect(.foldsTheCaseOfNames, breaks: "Every name is a name of its own")
    }

    @Test
    func backendThatHoldsAThousandNamesIsCaught() async {
        await expect(.holdsAThousandNames, breaks: "Thousands of names are held and changed at once")
    }

    @Test
    func backendThatFailsToSyncIsCaught() async {
        await expect(.failsToSync, breaks: "sync works at any time and keeps what is stored")
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
