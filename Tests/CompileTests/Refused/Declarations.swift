import Preferences

enum Theme: String { case light, dark }

struct Preferences: PreferenceGroup {
    // A range has bounds of the value's type, which can be compared.
    @Preference("a", .range(0.0...1.0)) var a: Int = 5  // error: requires the types 'Int' and 'Double?' be equivalent
    @Preference("b", .range("a"..."z")) var b: Int?  // error: cannot convert value of type 'String'
    let c = Preference("c", .range(.light ... .dark), default: Theme.light)  // error: 'Theme' conform to 'Comparable'
    @Preference("d", .range(0...1, validate: { $0 > 0 })) var d = 1  // error: extra argument 'validate' in call

    // A default is of the value's type, and only an optional goes without.
    @Preference("e") var e: Int = "loud"  // error: cannot convert value of type 'String'
    let f: Preference<Int> = Preference("f", default: "loud")  // error: cannot convert value of type 'String'
    @Preference("g") var g: Int  // error: no exact matches in call to initializer
    let h = Preference("h")  // error: generic parameter 'Wrapped' could not be inferred
    @Preference var i = 5  // error: missing argument for parameter #2 in call

    // A coding and a validation are for the value's type.
    @Preference("j", coding: .rawValue) var j = 5  // error: no exact matches in reference to static property 'rawValue'
    @Preference("k", .check { $0.isEmpty }) var k = 5  // error: value of type 'Int' has no member 'isEmpty'
    @Preference("l", in: "shared") var l = 5  // error: cannot convert value of type 'String'
}
