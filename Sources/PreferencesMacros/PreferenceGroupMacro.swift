#if Macros
@_exported public import Preferences  // The expansions use it.
#endif
