// error: no exact matches in call to initializer
#if canImport(SwiftUI)
internal import Preferences
internal import SwiftUI

func wrap(_ preference: Preference<Float>) -> AppStorage<Float> { AppStorage(preference) }
#endif
