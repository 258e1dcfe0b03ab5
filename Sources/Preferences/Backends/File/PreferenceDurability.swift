/// When a set value survives a loss of power; the death of the process it survives as soon as the set returns.
public enum PreferenceDurability: Hashable, Sendable {
    /// Within about 100 milliseconds; `flush()` waits for it.
    case background
    /// Before the set returns, which then takes as long as the disk needs; one that fails throws
    /// `PreferencesError.Code.notDurable` while the value stays set.
    case immediate
}
