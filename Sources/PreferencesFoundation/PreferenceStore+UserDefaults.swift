public import Foundation
@_spi(Tool) public import Preferences

extension PreferenceStore {
    /// Stores the values of a domain of user defaults, once, and keeps those that are set already.
    ///
    ///     try PreferenceStore.standard.importUserDefaults(.standard)
    ///
    /// For a program that used `UserDefaults` on Linux before: call it before the preferences are read, at each start. The values and a
    /// note that the domain was imported are stored in one step, so it happens once and whole, also if the program is killed or two
    /// processes start at once. Later calls change nothing, even if a name was reset in between; only `removeAll()` removes the note with
    /// everything else. A domain without a value isn't noted.
    ///
    /// Only the domain's own values are stored: none that was registered, stands on the command line or in the global domain. A name counts
    /// as set if the layer that takes the writes has it. A name that an administrator manages is left out. The domain stays as it is.
    ///
    /// Numbers, dates and data are stored exactly as Foundation returns them; on Linux its file keeps whole seconds of a date. Of a URL, it
    /// keeps the path alone there, which a preference of type `URL` reads as the file URL.
    ///
    /// On Apple platforms a store over the same user defaults has the values already, and nothing is stored.
    ///
    /// Blocks, on any thread. The values survive the death of the process when it returns; `flush()` waits for the disk.
    ///
    /// - Parameters:
    ///   - defaults: The user defaults.
    ///   - suite: The name that `defaults` was created with, if it isn't `.standard`: the object doesn't tell it.
    /// - Returns: The names that were stored, sorted.
    /// - Throws: `misuse` if the suite's name is missing; `unreadable` for an object that no preference can hold; what
    ///   `transaction(_:)` throws. Nothing is changed then.
    @discardableResult
    public func importUserDefaults(_ defaults: UserDefaults = .standard, suite: String? = nil) throws -> [String] {
        guard suite != nil || defaults === UserDefaults.standard else {
            throw PreferencesError(
                .misuse,
                "user defaults don't tell the name of their suite; name it in importUserDefaults(_:suite:)"
            )
        }
        if isOver(defaults) { return [] }
        // What was set in this process and is not in the file yet.
        defaults.synchronize()
        let domain = suite ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        var values: [String: PropertyListValue] = [:]
        for (name, object) in defaults.persistentDomain(forName: domain) ?? [:] where !name.isEmpty {
            do throws(PreferencesError) { values[name] = try PropertyListValue(propertyListObject: object) } catch {
                // The message has the keys inside the value, which may be a part of a secret.
                let message =
                    isSecret(name) ? "\(String.redacted) has a part that no preference can hold" : error.message
                throw PreferencesError(error.code, name: name, message)
            }
        }
        if values.isEmpty { return [] }
        while true {
            do {
                return try store(values, of: domain)
            } catch let error as PreferencesError where error.code == .managed {
                // The rest of a program's values must not depend on what an administrator decides.
                guard let name = error.name, values.removeValue(forKey: name) != nil else { throw error }
            }
        }
    }

    private func store(_ values: [String: PropertyListValue], of domain: String) throws -> [String] {
        try transaction { transaction in
            var imported: [PropertyListValue] = []
            if case .array(let domains)? = transaction[PreferencesFile.importedName] { imported = domains }
            guard !imported.contains(.string(domain)) else { return [] }
            transaction[PreferencesFile.importedName] = .array(imported + [.string(domain)])
            return values.keys.sorted().filter { name in
                // Read through the transaction, so that a set from now on makes the body run again.
                _ = transaction[name]
                guard ownValue(of: name) == nil else { return false }
                transaction[name] = values[name]
                return true
            }
        }
    }
}
