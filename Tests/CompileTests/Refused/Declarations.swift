import Preferences

enum Theme: String { case light, dark }

struct Preferences: PreferenceGroup {
    // The bounds of a range have the value's type, which must be comparable.
    @Preference("a", .range(0.0...1.0)) var a: Int = 5  // error: no exact matches in call to static method 'range'
    @Preference("b", .range("a"..."z")) var b: Int?  // error: no exact matches in call to static method 'range'
    let c = Preference("c", .range(.light ... .dark), default: Theme.light)  // error: 'Theme' conform to 'Comparable'
    @Preference("d", range: 0...1) var d = 1  // error: extraneous argument label 'range:' in call

    // A default has the value's type, and only an optional value needs none.
    @Preference("e") var e: Int = "loud"  // error: cannot convert value of type 'String'
    let f: Preference<Int> = Preference("f", default: "loud")  // error: cannot convert value of type 'String'
    @Preference("g") var g: Int  // error: a preference needs a default, as in '@Preference("volume") var volume = 5'
    let h = Preference("h")  // error: generic parameter 'Wrapped' could not be inferred
    @Preference var i = 5  // error: missing argument for parameter #2 in call

    // A coding and a rule have the value's type.
    @Preference("j", coding: .rawValue) var j = 5  // error: static property 'rawValue' requires
    @Preference("k", .check { $0.isEmpty }) var k = 5  // error: cannot infer type of closure parameter
    @Preference("m", .choices(["a"])) var m = 5  // error: cannot convert value of type 'String'
    @Preference("n", .length(1...2)) var n = 5  // error: static method 'length' requires
    @Preference("l", in: "shared") var l = 5  // error: cannot convert value of type 'String'
}
