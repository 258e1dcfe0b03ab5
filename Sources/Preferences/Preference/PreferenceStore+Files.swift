#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Files that are only read, and that the program names or its service manager passes to it.

extension PreferenceStore {
    /// Returns a file that a person or another program writes as one JSON object with comments, as a read-only layer.
    ///
    ///     // The user's settings, with comments.
    ///     {
    ///         "$schema": "preferences.schema.json",
    ///         "volume": 7,
    ///         "editor.font": { "family": "Inter", "size": 13, },
    ///     }
    ///
    /// The text is JSON with comments and commas behind last elements. Each name of the object is that of a preference, and its value is
    /// read as one of a preferences file, also an object, which is the value of its name; `null` sets nothing. `$schema` and `$id`
    /// are ignored. A file that doesn't exist has no values.
    ///
    /// The file is never written, so its comments stay. Its changes are visible as soon as it is saved. A text with a
    /// syntax error is reported with its line, and the values that were read before stay in force; if there are none, `load()` throws. A
    /// value that can't be read is reported and left out. A text that ends too early is waited for, for at most a second. In
    /// `Preference.source` the layer is named `settings`.
    ///
    /// - Parameter url: The file's URL.
    public static func settingsFile(at url: URL) -> PreferenceStore {
        let source: Source
        do throws(PreferenceError) {
            source = Source(ReadOnlyFiles(FilePlaces(files: [try url.pathOfFile()]), areObjects: true))
        } catch {
            source = Source(NoBackend(error))
        }
        return PreferenceStore(Layer(source: source).readOnly(named: "settings"))
    }

    /// The credentials that the service manager passes to this program, as a read-only layer of secrets: each file of the folder
    /// `$CREDENTIALS_DIRECTORY`, as systemd sets it for a unit with `LoadCredential` or `LoadCredentialEncrypted`.
    ///
    ///     let store = PreferenceStore.layered([.credentials, .environment(prefix: "PLAYER"), .standard])
    ///
    /// A file's name is that of a preference, and its content the value: text, without one line break at its end, that each preference
    /// reads by its declared type, like those of `arguments`; or data if it isn't UTF-8. All of them are secrets, in each
    /// layered store, too: descriptions, errors and reports print `<redacted>`. The other values of such a store are none.
    ///
    /// The files are read once, when the store is first requested, because the service manager doesn't change them. Without the variable, or
    /// if that isn't an absolute path, the layer has no values; if a file can't be read, opening the layer fails. It isn't replaced inside
    /// `withIsolatedStores`.
    public static let credentials = credentials(inFolder: CurrentProcess.variable("CREDENTIALS_DIRECTORY"))

    static func credentials(inFolder variable: String?) -> PreferenceStore {
        let folder = variable.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let source: Source
        do throws(PreferenceError) { source = Source(try folder.map(values(ofFilesIn:)) ?? [:]) } catch {
            source = Source(NoBackend(error))
        }
        var layer = Layer(source: source).readOnly(named: "credentials")
        (layer.isText, layer.isSecret, layer.optionPrefix) = (true, true, folder.map { $0 + "/" } ?? "")
        return PreferenceStore(layer)
    }

    private static func values(ofFilesIn folder: String) throws(PreferenceError) -> [String: PropertyListValue] {
        let system = FileSystem.system
        var values: [String: PropertyListValue] = [:]
        var path = folder
        do throws(FileSystemError) {
            // Kubernetes has its own entries in a mounted folder, whose names begin with dots.
            for name in try system.names(inFolder: folder) where !name.hasPrefix(".") {
                path = folder + "/" + name
                guard try system.status(at: path).otherKind == nil else { continue }
                values[name] = value(of: try ReadOnlyFiles.contents(of: path, system).bytes)
            }
        } catch {
            throw PreferenceError(
                .unavailable,
                "the credentials can't be read at \(path); correct $CREDENTIALS_DIRECTORY, or let this user read the file",
                cause: error
            )
        }
        return values
    }

    private static func value(of bytes: [UInt8]) -> PropertyListValue {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return .data(Data(bytes)) }
        // A line break of Windows is one character.
        return .string(text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text)
    }
}
