import Preferences
import SwiftUI

// `view-operations NAME COUNT FOLDER` does the work for each view with a preference COUNT times, in a function that
// Scripts/count-instructions finds by its name.

@inline(never)
func countByKeyPath(_ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= PreferenceState(\EightPreferences.$p03).preference.name.utf8.count }
    return sum
}

@inline(never)
func countDeclaredInView(_ count: Int, _ store: PreferenceStore) -> Int {
    var sum = 0
    for _ in 0..<count {
        sum &+= PreferenceState(wrappedValue: "Pitt", "user.name", in: store).preference.name.utf8.count
    }
    return sum
}

@inline(never)
func countRead(_ state: PreferenceState<Int>, _ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= state.wrappedValue }
    return sum
}

@inline(never)
func countBinding(_ state: PreferenceState<Int>, _ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= state.projectedValue.wrappedValue }
    return sum
}

func run(_ name: String, _ count: Int) {
    let store = PreferenceStore.inMemory(["number": 7])
    let state = PreferenceState(Preference("number", default: 0, in: store))
    switch name {
    case "view-by-key-path":
        precondition(PreferenceState(\EightPreferences.$p07).preference.defaultValue == 7)
        precondition(countByKeyPath(count) == 3 * count)
    case "view-declared": precondition(countDeclaredInView(count, store) == 9 * count)
    case "view-read", "allocations-view-read":
        precondition(state.wrappedValue == 7 && countRead(state, count) == 7 * count)
    case "view-binding":
        // As a view that was given a preference does.
        let binding = state.projectedValue
        precondition(countBinding(state, count) == 7 * count)
        precondition(binding.isEqual(to: state.projectedValue))
    default: preconditionFailure("no operation is named \(name)")
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]) else {
    preconditionFailure("view-operations NAME COUNT FOLDER")
}
run(arguments[1], count)

struct EightPreferences: PreferenceGroup {
    @Preference("p00") var p00 = 0
    @Preference("p01") var p01 = 1
    @Preference("p02") var p02 = 2
    @Preference("p03") var p03 = 3
    @Preference("p04") var p04 = 4
    @Preference("p05") var p05 = 5
    @Preference("p06") var p06 = 6
    @Preference("p07") var p07 = 7
}
