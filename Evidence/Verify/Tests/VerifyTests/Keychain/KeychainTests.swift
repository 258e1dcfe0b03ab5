import Foundation
import Security
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// A separate keychain for a test, under its own service.
struct TestKeychain {
    let service = "com.example.\(UUID())"

    func keyring(
        _ accessibility: PreferenceStore.KeychainAccessibility = .afterFirstUnlock,
        accessGroup: String? = nil,
        isSynchronizable: Bool = false,
        protection: DataProtection = .none
    ) -> Keychain {
        Keychain(
            service: service,
            accessibility: accessibility,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable,
            protection: protection
        )
    }

    func change<Result: Sendable>(_ body: (inout MockKeychain) -> Result) -> Result { MockKeychain.of(service, body) }
    var items: [MockKeychain.Item] { change { $0.items } }
    var calls: [MockKeychain.Function] { change { $0.calls } }

    /// Lets another program act right before the first call of a function.
    func before(_ function: MockKeychain.Function, _ body: @escaping @Sendable (inout MockKeychain) -> Void) {
        let isDone = Lock(false)
        let service = service
        change { keychain in
            keychain.beforeCall = { called in
                guard called == function, !isDone.withLock({ exchange(&$0, with: true) }) else { return }
                MockKeychain.of(service) { body(&$0) }
            }
        }
    }
}

extension Keychain {
    func texts() throws(PreferenceError) -> [String: String] {
        try items().bytes.mapValues { String(decoding: $0, as: UTF8.self) }
    }

    func items() throws(PreferenceError) -> KeyringItems {
        try items(KeyringCall(mayPrompt: false, within: .seconds(3600)))
    }

    func set(_ text: String?, for name: String) throws(PreferenceError) {
        try set(text.map { Array($0.utf8) }, for: name, KeyringCall(mayPrompt: true, within: .seconds(3600)))
    }
}

struct KeychainTests {
    private let device = TestKeychain()

    @Test
    func itemsAreStoredReadUpdatedAndRemoved() throws {
        let keychain = device.keyring()
        #expect(try keychain.texts() == [:])
        try keychain.set("one", for: "token")
        try keychain.set("", for: "empty")
        #expect(try keychain.texts() == ["token": "one", "empty": ""])
        try keychain.set("two", for: "token")
        try keychain.set(nil, for: "empty")
        try keychain.set(nil, for: "absent")
        #expect(try keychain.texts() == ["token": "two"])
        #expect(device.items.map(\.account) == ["token"])
    }

    @Test
    func itemOfAnotherProgramIsRead() throws {
        device.change { $0.insert("token", "theirs") }
        #expect(try device.keyring().texts() == ["token": "theirs"])
    }

    @Test
    func itemThatAnotherProgramRemovesWhileItIsReadIsLeftOut() throws {
        device.change {
            $0.insert("first", "1")
            $0.insert("second", "2")
        }
        let reads = Lock(0)
        device.change { [service = device.service] keychain in
            keychain.beforeCall = { _ in
                guard
                    reads.withLock({ reads in
                        reads += 1; return reads == 2
                    })
                else { return }
                MockKeychain.of(service) { $0.items.removeAll { $0.account == "first" } }
            }
        }
        #expect(try device.keyring().texts() == ["second": "2"])
    }

    @Test
    func itemThatAnotherProgramAddsBeforeTheAddIsUpdated() throws {
        device.before(.add) { $0.insert("token", "theirs") }
        try device.keyring().set("mine", for: "token")
        #expect(device.calls == [.update, .add, .update])
        #expect(try device.keyring().texts() == ["token": "mine"])
    }

    @Test
    func callerThatHasGivenUpStoresNothing() throws {
        let call = KeyringCall(mayPrompt: true, within: .zero)
        _ = call.wait(grace: .zero)
        #expect(throws: PreferenceError.self) { try device.keyring().set([1], for: "token", call) }
        #expect(device.calls.isEmpty)
    }

    // MARK: Options

    @Test(arguments: zip(PreferenceStore.KeychainAccessibility.allCases, ["ak", "ck", "aku", "cku", "akpu"]))
    func accessibilityIsThatOfTheOption(option: PreferenceStore.KeychainAccessibility, stored: String) throws {
        try device.keyring(option).set("secret", for: "token")
        #expect(device.items.map(\.accessible) == [stored])
    }

    @Test
    func nextValueHasTheAccessibilityOfTheNextVersion() throws {
        try device.keyring(.whenUnlocked).set("one", for: "token")
        try device.keyring(.afterFirstUnlock).set("two", for: "token")
        #expect(device.items.map(\.accessible) == ["ck"])
    }

    @Test
    func synchronizedItemIsAnotherOne() throws {
        let (local, cloud) = (device.keyring(), device.keyring(isSynchronizable: true))
        try local.set("local", for: "token")
        try cloud.set("cloud", for: "token")
        #expect(device.items.count == 2)
        #expect(try local.texts() == ["token": "local"])
        #expect(try cloud.texts() == ["token": "cloud"])
        try local.set(nil, for: "token")
        #expect(try cloud.texts() == ["token": "cloud"])
    }

    @Test
    func itemsOfAnAccessGroupAreThoseOfTheGroup() throws {
        let (own, shared) = (device.keyring(), device.keyring(accessGroup: "team.shared"))
        try shared.set("shared", for: "token")
        try own.set("own", for: "name")
        #expect(device.items.map(\.accessGroup) == ["team.shared", "team.program"])
        #expect(try shared.texts() == ["token": "shared"])
        #expect(try own.texts() == ["token": "shared", "name": "own"])
    }

    @Test
    func newestOfTheItemsInSeveralAccessGroupsCounts() throws {
        device.change {
            $0.insert("token", "older", accessGroup: "team.program")
            $0.insert("token", "newer", accessGroup: "team.shared")
            $0.insert("name", "newer", accessGroup: "team.shared")
            $0.insert("name", "newest", accessGroup: "team.program")
        }
        let keychain = device.keyring()
        #expect(try keychain.texts() == ["token": "newer", "name": "newest"])
        try keychain.set("set", for: "token")
        #expect(
            device.items.filter { $0.account == "token" }.map { String(decoding: $0.data, as: UTF8.self) } == [
                "set", "set",
            ]
        )
        try keychain.set(nil, for: "token")
        #expect(try keychain.texts() == ["name": "newest"])
    }

    @Test
    func oneServiceWithTheSameOptionsIsOneStore() {
        let service = device.service
        #expect(PreferenceStore.keyring(service: service) === PreferenceStore.keyring(service: service))
        #expect(
            PreferenceStore.keyring(service: service)
                === PreferenceStore.keyring(service: service, accessibility: .afterFirstUnlock)
        )
        let others = [
            PreferenceStore.keyring(service: service, accessibility: .whenUnlocked),
            PreferenceStore.keyring(service: service, accessGroup: "team.shared"),
            PreferenceStore.keyring(service: service, isSynchronizable: true),
        ]
        #expect(Set((others + [.keyring(service: service)]).map(ObjectIdentifier.init)).count == 4)
    }

    @Test
    func itemThatMustNotLeaveTheDeviceCanNotBeSynchronized() async {
        await #expect(processExitsWith: .failure) {
            _ = PreferenceStore.keyring(
                service: "com.example.app",
                accessibility: .whenUnlockedThisDeviceOnly,
                isSynchronizable: true
            )
        }
    }
}

/// The failures, and the advice in their errors.
struct KeychainErrorTests {
    private let device = TestKeychain()

    /// The errors of a read and of a set.
    private func errors(_ keychain: Keychain) -> [PreferenceError] {
        var errors: [PreferenceError] = []
        do throws(PreferenceError) { _ = try keychain.texts() } catch { errors.append(error) }
        do throws(PreferenceError) { try keychain.set("secret-value", for: "token") } catch { errors.append(error) }
        return errors
    }

    @Test
    func nothingIsReadOrStoredBeforeTheFirstUnlock() throws {
        device.change {
            $0.insert("token", "stored")
            $0.lock = .beforeFirstUnlock
        }
        let keychain = device.keyring()
        let errors = errors(keychain)
        #expect(errors.map(\.code) == [.unavailable, .unavailable])
        #expect(errors.allSatisfy { $0.message.contains("Try again when the device is unlocked") })
        device.change { $0.lock = .unlocked }
        #expect(try keychain.texts() == ["token": "stored"])
    }

    @Test
    func itemsAfterTheFirstUnlockAreThereWhileTheDeviceIsLocked() throws {
        let keychain = device.keyring(.afterFirstUnlock)
        try keychain.set("one", for: "token")
        device.change { $0.lock = .locked }
        try keychain.set("two", for: "token")
        #expect(try keychain.texts() == ["token": "two"])
    }

    /// The device may hide items until it is unlocked; they aren't missing.
    @Test
    func itemThatIsNotFoundBeforeTheFirstUnlockIsNotMissing() throws {
        device.change {
            $0.insert("token", "stored")
            ($0.lock, $0.hidesItems) = (.beforeFirstUnlock, true)
        }
        let isLocked = Lock(true)
        let keychain = device.keyring(protection: DataProtection { isLocked.withLock { $0 } })
        #expect(errors(keychain).map(\.code) == [.unavailable, .unavailable])
        #expect(throws: PreferenceError.self) { try keychain.items() }
        device.change { $0.lock = .unlocked }
        // The device may hide only some of them.
        #expect(throws: PreferenceError.self) { try keychain.items() }
        isLocked.withLock { $0 = false }
        #expect(try keychain.texts() == ["token": "stored"])
        device.change { $0.items = [] }
        #expect(try keychain.texts() == [:])
    }

    /// An item that can't be read must not appear to be removed.
    @Test
    func lockedItemIsNamedAndTheOthersAreRead() throws {
        try device.keyring(.afterFirstUnlock).set("one", for: "first")
        try device.keyring(.whenUnlocked).set("two", for: "second")
        device.change { $0.lock = .locked }
        let items = try device.keyring().items()
        #expect(items.bytes.mapValues { String(decoding: $0, as: UTF8.self) } == ["first": "one"])
        #expect(items.locked.mapValues(\.code) == ["second": .unavailable])
    }

    @Test
    func errorForAMissingEntitlementNamesIt() {
        device.change { $0.accessGroups = [] }
        let errors = errors(device.keyring())
        #expect(errors.map(\.code) == [.unavailable, .unavailable])
        #expect(errors.allSatisfy { $0.message.contains("keychain-access-groups") })
    }

    @Test
    func groupOfAnotherProgramIsNamed() {
        let errors = errors(device.keyring(accessGroup: "other.program"))
        #expect(errors.map(\.code) == [.unavailable, .unavailable])
        #expect(errors.allSatisfy { $0.message.contains("access group other.program;") })
        #expect(device.items.isEmpty)
    }

    @Test
    func errorForAMissingPasscodeNamesIt() throws {
        device.change { $0.hasPasscode = false }
        let errors = errors(device.keyring(.whenPasscodeSetThisDeviceOnly))
        #expect(errors.map(\.code) == [.unavailable])
        #expect(errors.allSatisfy { $0.message.contains("has no passcode") })
    }

    @Test(arguments: [errSecParam, errSecUserCanceled, errSecAuthFailed, -34, -26275, -909])
    func anyOtherStatusIsUnavailableAndChangesNothing(status: OSStatus) throws {
        for function in [MockKeychain.Function.copyMatching, .update, .add] {
            device.change {
                $0.items = []
                $0.failures = [function: [status]]
            }
            let errors = errors(device.keyring())
            #expect(errors.map(\.code) == [.unavailable])
            #expect(status == errSecUserCanceled || errors[0].message.contains("status \(status)"))
            #expect(device.items.isEmpty || function == .copyMatching)
        }
    }

    @Test(arguments: ["set", nil])
    func brokenConnectionLeavesTheOutcomeOpen(value: String?) throws {
        let keychain = device.keyring()
        try keychain.set("one", for: "token")
        for function in [MockKeychain.Function.update, .delete] {
            device.change { $0.failures[function] = [errSecNotAvailable] }
        }
        do throws(PreferenceError) {
            try keychain.set(value, for: "token")
            Issue.record("the error was lost")
        } catch {
            #expect(error.code == .outcomeUnknown)
            #expect("\(error)".contains("No keychain is available"))
        }
    }

    /// Each call fails in turn: the values stored before or after remain, and no message contains a value.
    @Test
    func everyFailureKeepsTheFormerValueOrStoresTheNewOne() throws {
        let keychain = device.keyring()
        for function in [MockKeychain.Function.copyMatching, .update, .add, .delete] {
            for hasItem in [false, true] {
                device.change {
                    $0.items = []
                    $0.failures = [:]
                    if hasItem { $0.insert("token", "former") }
                    $0.failures = [function: [errSecParam]]
                }
                for error in errors(keychain) { #expect(!"\(error)".contains("secret-value")) }
                device.change { $0.failures = [:] }
                let isStored = function == .copyMatching || function == .delete || (function == .add && hasItem)
                #expect(try keychain.texts()["token"] == (isStored ? "secret-value" : hasItem ? "former" : nil))
            }
        }
    }
}
