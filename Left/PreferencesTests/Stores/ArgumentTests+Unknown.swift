import TestSupport
import Testing

@testable import Preferences

extension ArgumentTests {
    @Test
    func eachUnknownNameIsReportedWithTheNearestDeclaredOne() {
        let issues = reported(["--wdith=2", "-Volume", "1", "-zzz", "1"], ["APP_VOLUMES": "1", "APP_X": "1"])
        same(issues.map(\.code), Array(repeating: .invalidName, count: 5))
        let messages = issues.map(\.message)
        same(
            messages,
            [
                #"no preference is named "APP_VOLUMES"; its value in the layer "environment" is ignored; did you mean "APP_VOLUME"?"#,
                #"no preference is named "APP_X"; its value in the layer "environment" is ignored; correct or remove it"#,
                #"no preference is named "Volume"; its value in the layer "arguments" is ignored; did you mean "volume"?"#,
                #"no preference is named "wdith"; its value in the layer "arguments" is ignored; did you mean "width"?"#,
                #"no preference is named "zzz"; its value in the layer "arguments" is ignored; correct or remove it"#,
            ]
        )
    }
}
