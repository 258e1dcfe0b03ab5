extension Preference {
    /// The preference of a member of the value, with a value, observers and updates of its own.
    ///
    ///     @Preference("frame") var frame = WindowFrame()
    ///     preferences.$frame[\.width].value += 100
    ///
    /// A set changes that member of the newest value, in one step across processes, and throws or reports
    /// `unreadable` if the stored value can't be decoded. Observers are notified if the member differs; always, if its
    /// type isn't `Equatable`. `reset()` sets the member of the default. Name, stored value, `isSet` and source are
    /// those of the whole value, whose rule applies. An optional value has no members here: `update { $0?.width = 1 }` sets one.
    public subscript<Member: Sendable>(
        keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> Preference<Member> {
        let whole = declaration
        return Preference<Member>(
            PreferenceDeclaration(
                name: whole.name,
                in: whole.store,
                coding: PreferenceCoding(whole.coding.identifier) { _ in
                    nil
                } decode: { stored in
                    try whole.decode(stored)?[keyPath: keyPath]
                },
                condition: nil,
                description: whole.description,
                member: whole.member(at: keyPath),
                default: { whole.makeDefault()[keyPath: keyPath] }
            )
        )
    }
}

extension PreferenceDeclaration {
    /// A part of this value, which may be a part of another itself.
    fileprivate func member<Member: Sendable>(
        at keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> ValueMember<Member> {
        ValueMember(
            keyPath: member?.keyPath.appending(path: keyPath) ?? keyPath,
            rule: condition.map(ObjectIdentifier.init) ?? member?.rule
        ) { (new, candidates) throws(PreferencesError) in
            var value = try self.readStrictly(candidates) ?? self.makeDefault()
            value[keyPath: keyPath] = new
            return try self.encode(value, over: candidates)
        }
    }
}
