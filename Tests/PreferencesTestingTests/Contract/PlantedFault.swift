/// What is wrong with a `MemoryPlaceBackend`.
enum PlantedFault: Sendable {
    case storesTheFirstChangeOnly
    case storesOneChangeAfterAnother
    case storesPartOfARefusedSet
    case ignoresConditions
    case takesAbsentForAnything
    case ignoresCompleteness
    case comparesWithWhatItKnew
    case keepsRemovedNames
    case echoesItsOwnChanges
    case dropsOutsideChangesInApply
    case dropsOutsideChangesOfARefusedSet
    case tellsOutdatedChanges
    case tellsNoRemovals
    case announcesNothing
    case storesBeforeItFails
    case dropsOutsideChangesWhenItFails
    case storesWholeRealsAsIntegers
    case cutsDatesToSeconds
    case foldsTheCaseOfNames
    case holdsAThousandNames
    case failsToSync
}
