// error on visionOS: is only available in visionOS 26.0 or newer
#if os(visionOS)
/// The version of iOS stands for one of visionOS, by the map of the SDK.
@available(iOS 26.0, *)
func callAboveTheFloor() {}

func callOfOnePlatform() { callAboveTheFloor() }
#endif
