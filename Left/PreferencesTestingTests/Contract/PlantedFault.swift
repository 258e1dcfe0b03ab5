/// A fault of a `MemoryPlaceBackend`.
enum PlantedFault: Sendable {
    case storesTheFirstChangeOnly
    case storesOneChangeAfterAnother
    case storesPartOfARejectedApply
    case ignoresConditions
    case ignoresAbsence
    case ignoresCompleteness
    case comparesWithWhatItKnew
    case keepsRemovedNames
    case echoesItsOwnChanges
    case dropsExternalChangesInApply
    case dropsExternalChangesOfARejectedApply
    case passesOnOutdatedChanges
    case passesOnNoRemovals
    case announcesNothing
    case storesBeforeItFails
    case dropsExternalChangesWhenItFails
    case storesWholeRealsAsIntegers
    case cutsDatesToSeconds
    case foldsTheCaseOfNames
    case holdsAThousandNames
    case failsToSync
}
