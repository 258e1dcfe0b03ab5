internal import Synchronization

// Names whose values are secrets, or managed by their place.

extension StoreCore {
    /// Records that a name was declared secret.
    package func noteSecret(_ name: String) {
        publishing.withLock {
            guard secretNames.insert(name).inserted else { return }
            uncheckedSecrets.append(name)
            isPrepared.store(false, ordering: .releasing)
        }
        if isUsed { for layer in layers { layer.source.noteSecret(layer.key(name)) } }
    }

    /// Reports each of some secrets that is stored as plain text, or will be if it is set.
    func checkPlainText(of names: [String]) {
        guard let target, let place = target.own?.plainTextPlace else { return }
        // One below a layer of secrets comes from there, and needs no other place unless the program has stored it.
        let isBelowSecrets = layers[..<base].contains(where: \.isSecret)
        if isBelowSecrets, !target.isOpen { return publishing.withLock { uncheckedSecrets += names } }
        for name in names {
            let stored = publishing.withLock { nodes[name]?.candidates().first { $0.layer == base } }
            if isBelowSecrets, stored?.value.isUnset ?? true { continue }
            reportOnce(
                PreferenceError(
                    .misuse,
                    name: name,
                    "the preference is a secret, but \(place) stores it as plain text; nothing was changed. Declare it with in: .keyring, "
                        + "from the product PreferencesKeyring"
                )
            )
        }
    }

    /// Returns whether the value of a name is a secret: declared so here or in another store over a source, or as all of a layer's.
    package func isSecret(_ name: String) -> Bool {
        if secrecy == .all || original?.isSecret(name) ?? false || publishing.withLock({ isDeclaredSecret(name) }) {
            return true
        }
        if layers.contains(where: { $0.source.isSecret($0.key(name)) }) { return true }
        return secrecy == .layers
            && publishing.withLock {
                (nodes[name]?.candidates() ?? candidates(name)).contains { layers[$0.layer].isSecret }
            }
    }

    /// Returns whether a name, or the preference of which it is a former one, was declared secret.
    private func isDeclaredSecret(_ name: String) -> Bool {
        secretNames.contains(name) || claims[name].map { secretNames.contains($0.node.name) } ?? false
    }

    /// Returns whether the writable place itself reports that an administrator manages a name, as user defaults do.
    func isManagedByPlace(_ name: String) -> Bool {
        writable.map { $0.source.own?.describe($0.key(name)).isManaged ?? false } ?? false
    }
}
