internal import DurableFile

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceStore {
    /// The credentials that the service manager passes to this program, as a read-only layer of secrets: each file of the folder
    /// `$CREDENTIALS_DIRECTORY`, as systemd sets it for a unit with `LoadCredential` or `LoadCredentialEncrypted`.
    ///
    ///     let store = PreferenceStore.layered([.credentials, .environment(prefix: "PLAYER"), .standard])
    ///
    /// A file's name is that of a preference, and its content the value: text, without one line break at its end, that each preference
    /// reads by its declared type, like those of `arguments`; or data if it isn't UTF-8. All of them are secrets, in each
    /// layered store, too: descriptions, errors and reports print `<redacted>`. The other values of such a store are none.
    ///
    /// The files are read once, when the store is first used, because the service manager doesn't change them. Without the variable, or if
    /// that isn't an absolute path, the layer has no values; if a file can't be read, opening the layer fails. It isn't replaced inside
    /// `withIsolatedStores`.
    public static let credentials = credentials(inFolder: CurrentProcess.variable("CREDENTIALS_DIRECTORY"))

    static func credentials(inFolder variable: String?) -> PreferenceStore {
        let folder = variable.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let source: Source
        do throws(PreferenceError) { source = Source(try folder.map(Self.values) ?? [:]) } catch {
            source = Source(NoBackend(because: error))
        }
        let prefix = folder.map { "\($0)/" } ?? ""
        return PreferenceStore(
            Layer(
                source: source,
                name: "credentials",
                isReadOnly: true,
                isText: true,
                isSecret: true,
                optionPrefix: prefix
            )
        )
    }

    private static func values(ofFilesIn folder: String) throws(PreferenceError) -> [String: PropertyListValue] {
        let fileSystem = SystemFileSystem()
        var values: [String: PropertyListValue] = [:]
        var path = folder
        do {
            // Kubernetes has its own entries in a mounted folder, whose names begin with dots.
            for name in try fileSystem.names(inFolder: folder) where !name.hasPrefix(".") {
                path = folder + "/" + name
                guard try fileSystem.status(at: path).kind == .file,
                    let bytes = try WholeFile(path: path).bytes(trustingOwners: TrustedOwners.setting.fix().value)
                else { continue }
                values[name] = Self.value(of: bytes)
            }
        } catch {
            throw PreferenceError(
                .unavailable,
                "the credentials can't be read at \(path); correct $CREDENTIALS_DIRECTORY, or let this user read the file",
                cause: (error as? LogError).map { PreferenceError($0) } ?? error
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
