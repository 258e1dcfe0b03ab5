#if canImport(Darwin) || STANDINS
/// How large the values of one user defaults domain may be together.
///
/// The store sees the names that it uses only, and their sizes are estimates: the system may count more.
struct UserDefaultsSizeLimit: Sendable {
    /// In bytes.
    let limit: Int

    func check(_ size: Int) throws(PreferencesError) {
        guard size > limit else { return }
        throw PreferencesError(
            .tooLarge,
            "the values would take about \(size) bytes, and user defaults take \(limit) here; nothing was changed. "
                + "Keep large values in files"
        )
    }

    /// Whether it is time to warn.
    func isNear(_ size: Int) -> Bool { size > limit / 4 * 3 }

    func warning(_ size: Int) -> PreferencesError {
        PreferencesError(
            .tooLarge,
            "the values take about \(size) bytes, and user defaults take \(limit) here; keep large values in files"
        )
    }
}
#endif
