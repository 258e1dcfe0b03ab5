public import Foundation
public import Preferences

extension PreferenceStore {
    /// Stores the values of a user defaults domain, once; values that are already set are kept.
    ///
    ///     try PreferenceStore.standard.importUserDefaults(.standard)
    ///
    /// For a program that used `UserDefaults` on Linux before: call it before the preferences are read, at each start. The values and a
    /// record that the domain was imported are stored atomically, so it happens once and completely, even if the program is killed or two
    /// processes start at the same time. Later calls change nothing, even if a name was reset in between or all were by `removeAll()`. A
    /// domain without a value isn't recorded.
    ///
    /// Only the domain's own values are stored: none from registration, the command line or the global domain. A name counts
    /// as set if the writable layer has a value under it, or under a former name of its preference. A name that an administrator manages is skipped. The domain isn't changed.
    ///
    /// Numbers, dates and data are stored exactly as Foundation returns them; on Linux, Foundation's file keeps only whole seconds of a
    /// date, and only the path of a URL, which a preference of type `URL` reads as a file URL.
    ///
    /// On Apple platforms, a store over the same user defaults already has the values, and nothing is stored.
    ///
    /// Blocks, on any thread. When it returns, the values survive the death of the process; `flush()` waits for the disk.
    ///
    /// - Parameters:
    ///   - defaults: The user defaults.
    ///   - suite: The name with which `defaults` was created, if it isn't `.standard`: the object has no property for it.
    /// - Returns: The names that were stored, sorted.
    /// - Throws: `misuse` if the suite's name is missing; `unreadable` for an object that a preference can't hold; the errors of
    ///   `transaction(_:)`. Then nothing is changed.
    @discardableResult
    public func importUserDefaults(_ defaults: UserDefaults = .standard, suite: String? = nil) throws -> [String] {
        guard suite != nil || defaults === UserDefaults.standard else {
            throw PreferenceError(
                .misuse,
                "user defaults have no property for the name of their suite; pass it to importUserDefaults(_:suite:)"
            )
        }
        if isOver(defaults) { return [] }
        // Writes values that were set in this process to the file.
        defaults.synchronize()
        let domain = suite ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        var values: [String: PropertyListValue] = [:]
        for (name, object) in defaults.persistentDomain(forName: domain) ?? [:] where !name.isEmpty {
            do throws(PreferenceError) { values[name] = try PropertyListValue(propertyListObject: object) } catch {
                // The message has the keys inside the value, which may be part of a secret.
                let message =
                    isSecret(name) ? "\(String.redacted) has a part that a preference can't hold" : error.message
                throw PreferenceError(error.code, name: name, message)
            }
        }
        if values.isEmpty { return [] }
        while true {
            do {
                return try store(values, of: domain)
            } catch let error as PreferenceError where error.code == .managed {
                // The other values must not depend on an administrator's decision.
                guard let name = error.name, values.removeValue(forKey: name) != nil else { throw error }
            }
        }
    }

    private func store(_ values: [String: PropertyListValue], of domain: String) throws -> [String] {
        try transaction { transaction in
            var imported: [PropertyListValue] = []
            if case .array(let domains)? = transaction.ownValue(of: PreferenceStore.importedName) {
                imported = domains
            }
            guard !imported.contains(.string(domain)) else { return [] }
            transaction[PreferenceStore.importedName] = .array(imported + [.string(domain)])
            return values.keys.sorted().filter { name in
                guard !transaction.isSet(name) else { return false }
                transaction[name] = values[name]
                return true
            }
        }
    }
}
