// error on macOS: cannot find 'inMacOS' in scope
// error on iOS: cannot find 'inIOS' in scope
// error on tvOS: cannot find 'inTVOS' in scope
// error on watchOS: cannot find 'inWatchOS' in scope
// error on visionOS: cannot find 'inVisionOS' in scope
#if os(macOS)
func callOfThePlatform() { inMacOS() }
#elseif os(iOS)
func callOfThePlatform() { inIOS() }
#elseif os(tvOS)
func callOfThePlatform() { inTVOS() }
#elseif os(watchOS)
func callOfThePlatform() { inWatchOS() }
#elseif os(visionOS)
func callOfThePlatform() { inVisionOS() }
#endif
