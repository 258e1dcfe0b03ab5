#if canImport(Darwin) || STANDINS
public import Foundation

extension PreferenceCoding where Value == URL {
    /// As `UserDefaults.set(_:forKey:)` and `AppStorage` keep a URL: a keyed archive in data.
    public static var archivedURL: PreferenceCoding {
        PreferenceCoding(adopting: "archivedURL") { url in
            .data(try url.archived())
        } decode: { stored in
            try URL(storedValue: stored)
        }
    }
}

extension PreferenceCoding where Value == URL? {
    /// As `UserDefaults.set(_:forKey:)` and `AppStorage` keep a URL: a keyed archive in data, nil as not set.
    public static var archivedURL: PreferenceCoding {
        PreferenceCoding(adopting: "archivedURL") { url in
            try url.map { .data(try $0.archived()) }
        } decode: { stored in
            try URL(storedValue: stored)
        }
    }
}

extension URL {
    fileprivate func archived() throws -> Data {
        guard let object = NSURL(string: absoluteString) else {
            throw PreferencesError(.unencodable, "the URL can't be archived")
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    /// The URL that user defaults keep: an archive, or the path of a file with `~` for the home folder.
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
