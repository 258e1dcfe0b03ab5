#if canImport(Darwin) || STANDINS
public import Foundation

extension PreferenceCoding where Value == URL {
    /// A keyed archive in data, as `UserDefaults.set(_:forKey:)` and `AppStorage` store a URL other than a file's.
    ///
    /// Needed in stores that aren't user defaults: those store URLs this way by default.
    public static var archivedURL: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "archivedURL") { url in
            .data(try url.archived())
        } decode: { stored in
            try URL(storedValue: stored)
        }
    }
}

extension PreferenceCoding where Value == URL? {
    /// The coding above for an optional URL; `nil` means not set.
    public static var archivedURL: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "archivedURL") { url in
            try url.map { .data(try $0.archived()) }
        } decode: { stored in
            try URL(storedValue: stored)
        }
    }
}

extension URL {
    /// Returns the path of a file, with `~` for the home folder, which may differ at the next start; an archive of any other URL.
    func userDefaultsForm() throws -> PropertyListValue {
        let path = path(percentEncoded: false)
        guard isFileURL, URL(fileURLWithPath: path) == self else { return .data(try archived()) }
        let home = NSHomeDirectory()
        return .string(path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path)
    }

    fileprivate func archived() throws -> Data {
        guard let object = NSURL(string: absoluteString) else {
            throw PreferenceError(.unencodable, "the URL can't be archived")
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    /// Creates the URL from its form in user defaults: an archive, or a file's path with `~` for the home folder.
    init?(fromUserDefaults stored: PropertyListValue) throws {
        switch stored {
        case .data(let data):
            guard let url = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: data)?.absoluteURL else {
                return nil
            }
            self = url
        case .string(let path) where path.hasPrefix("/") || path.hasPrefix("~"):
            self.init(fileURLWithPath: NSString(string: path).expandingTildeInPath)
        default:
            return nil
        }
    }
}
#endif
