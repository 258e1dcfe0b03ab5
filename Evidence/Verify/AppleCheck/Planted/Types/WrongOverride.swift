// error: method does not override any method from its superclass
#if canImport(ObjectiveC)
internal import Foundation

final class WrongOverride: NSObject {
    override func observeValue(forKeyPath keyPath: String, of object: Any?, change: [String: Any]?, context: Int?) {}
}
#endif
