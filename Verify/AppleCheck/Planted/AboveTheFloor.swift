// error: 'glassEffect()' is only available in
#if canImport(SwiftUI)
internal import SwiftUI

func callAboveTheFloor(on view: some View) { _ = view.glassEffect() }
#endif
