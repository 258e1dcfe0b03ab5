import TestSupport
import Testing

/// The expectation of this package's own tests.
struct SameTests {
    @Test
    func differenceIsRecordedAtTheCallWithBothValues() {
        let line = #line + 2
        withKnownIssue {
            same(["a"], [], "names")
        } matching: { issue in
            issue.comments == [#"["a"] is not the expected []: names"#] && issue.sourceLocation?.line == line
                && issue.sourceLocation?.fileName == "SameTests.swift"
        }
    }

    @Test
    func equalValuesRecordNothing() {
        same(1.5, 1.5)
        same(Int?.none, nil, "\(Issue.record("the comment of equal values is evaluated"))")
    }
}
