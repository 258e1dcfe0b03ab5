import Foundation
import Testing

@testable import Preferences

struct UserDefaultsConversionTests {
    @Test(
        arguments: [
            .boolean(true), .boolean(false), 0, 1, -1, 2.0, -0.0, 2.5, "", "text", .data(Data([0, 1])), [1, true, 1.5],
            ["a": ["b": [false]]], .integer(.max), .integer(.min), .unsigned(.max), .real(.infinity),
            .date(Date(timeIntervalSinceReferenceDate: 0.123)),
        ] as [PropertyListValue]
    )
    func valueComesBackFromItsObject(value: PropertyListValue) {
        #expect(PropertyListValue(propertyList: value.propertyList) == value)
    }

    @Test
    func objectThatIsNoPropertyListIsNoValue() {
        #expect(PropertyListValue(propertyList: NSObject()) == nil)
        #expect(PropertyListValue(propertyList: [1, NSObject()] as [Any]) == nil)
        #expect(PropertyListValue(propertyList: ["a": NSObject()] as [String: Any]) == nil)
    }

    @Test(
        arguments: [
            (.boolean(true), 1), (0, .boolean(false)), (2, 2.0), ([1, 2.0], [1.0, 2]), (["a": true], ["a": 1]),
            (.unsigned(.max), .unsigned(.max)),
        ] as [(PropertyListValue, PropertyListValue)]
    )
    func kindOfNumberIsNoDifference(left: PropertyListValue, right: PropertyListValue) {
        #expect(left.isSame(as: right))
        #expect(right.isSame(as: left))
    }

    @Test(
        arguments: [
            (.boolean(true), 2), (0, -0.0), (2, 2.5), ("1", 1), ([1], [1, 1]), (["a": 1], ["b": 1]),
            (1, .data(Data([1]))),
            (.integer(.max), .real(0x1p63)), (.real(.nan), 0),
        ] as [(PropertyListValue, PropertyListValue)]
    )
    func anythingElseIs(left: PropertyListValue, right: PropertyListValue) {
        #expect(!left.isSame(as: right))
        #expect(!right.isSame(as: left))
    }

    @Test(arguments: [
        ("name", true), ("a b", true), ("🎨", true), ("a@b", true), ("a.b", false), ("@a", false), (".", false),
    ])
    func namesLikePathsAndOperatorsAreNotObserved(name: String, isObservable: Bool) {
        #expect(SharedUserDefaults.canObserve(name) == isObservable)
    }
}
