import Preferences
import SwiftUI

// `view-operations NAME COUNT FOLDER` does the work for each view with a preference COUNT times, in a function that
// Scripts/count-instructions finds by its name.

@inline(never)
func countByKeyPath(_ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= PreferenceState(\FiftyPreferences.$p25).preference.name.utf8.count }
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
        precondition(PreferenceState(\FiftyPreferences.$p49).preference.defaultValue == 49)
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

struct FiftyPreferences: PreferenceGroup {
    @Preference("p00") var p00 = 0
    @Preference("p01") var p01 = 1
    @Preference("p02") var p02 = 2
    @Preference("p03") var p03 = 3
    @Preference("p04") var p04 = 4
    @Preference("p05") var p05 = 5
    @Preference("p06") var p06 = 6
    @Preference("p07") var p07 = 7
    @Preference("p08") var p08 = 8
    @Preference("p09") var p09 = 9
    @Preference("p10") var p10 = 10
    @Preference("p11") var p11 = 11
    @Preference("p12") var p12 = 12
    @Preference("p13") var p13 = 13
    @Preference("p14") var p14 = 14
    @Preference("p15") var p15 = 15
    @Preference("p16") var p16 = 16
    @Preference("p17") var p17 = 17
    @Preference("p18") var p18 = 18
    @Preference("p19") var p19 = 19
    @Preference("p20") var p20 = 20
    @Preference("p21") var p21 = 21
    @Preference("p22") var p22 = 22
    @Preference("p23") var p23 = 23
    @Preference("p24") var p24 = 24
    @Preference("p25") var p25 = 25
    @Preference("p26") var p26 = 26
    @Preference("p27") var p27 = 27
    @Preference("p28") var p28 = 28
    @Preference("p29") var p29 = 29
    @Preference("p30") var p30 = 30
    @Preference("p31") var p31 = 31
    @Preference("p32") var p32 = 32
    @Preference("p33") var p33 = 33
    @Preference("p34") var p34 = 34
    @Preference("p35") var p35 = 35
    @Preference("p36") var p36 = 36
    @Preference("p37") var p37 = 37
    @Preference("p38") var p38 = 38
    @Preference("p39") var p39 = 39
    @Preference("p40") var p40 = 40
    @Preference("p41") var p41 = 41
    @Preference("p42") var p42 = 42
    @Preference("p43") var p43 = 43
    @Preference("p44") var p44 = 44
    @Preference("p45") var p45 = 45
    @Preference("p46") var p46 = 46
    @Preference("p47") var p47 = 47
    @Preference("p48") var p48 = 48
    @Preference("p49") var p49 = 49
}
