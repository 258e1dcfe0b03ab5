// error on macOS: 'glassEffect()' is only available in macOS 26.0 or newer
// error on iOS: 'glassEffect()' is only available in iOS 26.0 or newer
// error on tvOS: 'glassEffect()' is only available in tvOS 26.0 or newer
// error on watchOS: 'glassEffect()' is only available in watchOS 26.0 or newer
// error on visionOS: 'glassEffect()' is only available in visionOS 26.0 or newer
#if canImport(SwiftUI)
internal import SwiftUI

func callAboveTheFloor(on view: some View) { _ = view.glassEffect() }
#endif
