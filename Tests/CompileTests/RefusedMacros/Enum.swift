import PreferencesMacros

@PreferenceGroup
enum Choice {  // error: '@PreferenceGroup' is for a struct or a final class
    case first
}
