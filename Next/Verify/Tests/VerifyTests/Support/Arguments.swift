@testable import Preferences

extension PreferenceStore {
    static func arguments(_ words: [String]) -> PreferenceStore {
        var layer = Layer(source: Source(words.count == 2 ? [String(words[0].dropFirst()): .string(words[1])] : [:]))
        (layer.name, layer.isReadOnly, layer.isText) = ("arguments", true, true)
        return PreferenceStore(layer)
    }
}
