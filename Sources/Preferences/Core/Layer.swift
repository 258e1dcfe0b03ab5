/// One level of a store's order of precedence: a source, and how its values are interpreted there.
package struct Layer: Sendable {
    package internal(set) var source: Source
    /// The layer's name in `Preference.source`.
    package var name = "store"
    var isReadOnly = false
    /// Whether the user can't override the layer's values.
    var isManaged = false
    /// Whether values are text written by a person for a declared type, as in a command-line argument.
    package var isText = false
    /// Whether all of the layer's values are secrets, also in stores that have other layers.
    var isSecret = false
    /// The text before a name in the place where its value is written, such as `--`.
    var optionPrefix = ""
    /// The prefix of the source's names that the layer shows. It isn't part of the preferences' names.
    package var prefix = ""
    /// The number of characters at the beginning of the prefix that messages don't show.
    var hiddenCount = 0
    /// Converts a preference's name to the layer's spelling if that differs, as in environment variables; such names are not listed.
    package var spelling: (@Sendable (String) -> String)?
    /// The store that this layer was taken from, retained for its issue handler.
    package var owner: (any AnyObject & Sendable)?
    /// The names whose texts are the words behind their options, which may also be arguments for the program.
    var words: Set<String> = []

    /// Returns the name under which the source has a preference.
    package func key(_ name: String) -> String {
        let name = prefix.isEmpty ? name : prefix + name
        return spelling?(name) ?? name
    }

    /// Returns the name of the preference that a name in the source stands for; nil if it isn't listed.
    package func name(of key: String) -> String? {
        guard spelling == nil else { return nil }
        guard !prefix.isEmpty else { return key }
        return key.hasPrefix(prefix) && key.utf8.count > prefix.utf8.count ? String(key.dropFirst(prefix.count)) : nil
    }

    /// Whether the text of a preference is the word behind its option.
    func isWord(_ name: String) -> Bool { !words.isEmpty && words.contains(key(name)) }

    /// Returns where a value was written, for messages: the option, the variable, or the name as the source spells it; nil if that is the
    /// preference's.
    func origin(of name: String) -> String? {
        if isText { return optionPrefix + key(name) }
        let shown = String(key(name).dropFirst(hiddenCount))
        return shown == name ? nil : shown
    }

    /// Returns the layer of a source whose names are those of the preferences.
    package func replaced(by source: Source) -> Layer {
        var layer = Layer(source: source)
        (layer.name, layer.isSecret) = (name, isSecret)
        return layer
    }

    /// Returns the layer of a copy of the source's values, whose names have another beginning there.
    package func copied(in source: Source, under beginning: String) -> Layer {
        var layer = self
        layer.source = source
        layer.prefix = beginning + prefix
        layer.hiddenCount += beginning.count
        return layer
    }

    /// Returns the file and the line of a name of the source, for messages; nil if it isn't in a file.
    func location(of key: String?) -> String? {
        guard let place = source.own?.describe(key), let path = place.path else { return nil }
        return path + (place.line.map { ", line \($0)" } ?? "")
    }

    /// Returns the layer of a scope, whose prefix follows this layer's.
    func scoped(_ prefix: String) -> Layer {
        var layer = self
        layer.prefix += prefix
        return layer
    }

    /// Returns a read-only layer of another name, or this layer if it is read-only already.
    package func readOnly(named name: String) -> Layer {
        guard !isReadOnly else { return self }
        var layer = self
        (layer.name, layer.isReadOnly) = (name, true)
        return layer
    }
}

extension Layer {
    package init(source: Source) { self.init(source: source, name: "store") }
}

/// The layers of a store, and what follows from them.
// A class, of which each access counts one reference; a copy of a layer counts those of all its members.
final class LayerList: Sendable {
    let layers: [Layer]
    let base: Int
    /// The source of the layer that a set changes.
    let target: Source?
    /// Whether the names in that layer begin with a prefix.
    let addsPrefix: Bool
    let isPlain: Bool
    let hasManaged: Bool
    let hasKeyed: Bool
    let goesStale: Bool

    init(_ listed: [Layer]) {
        layers = listed.count == 1 ? listed : listed.filter(\.isManaged) + listed.filter { !$0.isManaged }
        base = layers.firstIndex { !$0.isReadOnly } ?? layers.count
        target = base < layers.count ? layers[base].source : nil
        addsPrefix = base < layers.count && !layers[base].prefix.isEmpty
        isPlain = layers.count == 1 && layers[0].prefix.isEmpty && layers[0].spelling == nil
        hasManaged = layers.contains(where: \.isManaged)
        hasKeyed = layers.contains(where: \.source.isKeyed)
        goesStale = layers.contains(where: \.source.goesStale)
    }
}

/// A stored value that a name may be read as.
package struct Candidate {
    package let value: PropertyListValue
    /// The index of the layer that has it.
    let layer: Int
    /// The index among the names of the preference, of which the first is its own.
    let name: Int
}

extension Candidate: Equatable {
    /// Returns whether both give the same value; one that moves to the present name stays the same.
    package static func == (left: Candidate, right: Candidate) -> Bool {
        left.layer == right.layer && left.value == right.value
    }
}

/// The values of a store that are secrets, the fewest first.
package enum Secrecy: Comparable {
    /// Those under the names that preferences have declared secret.
    case declared
    /// These, and the values of some layers.
    case layers
    case all
}
