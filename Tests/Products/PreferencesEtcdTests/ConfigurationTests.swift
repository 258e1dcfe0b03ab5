import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the configurations that are rejected when a store is created, and of the messages.
struct ConfigurationTests {
    private func message(_ change: (inout EtcdConfiguration) -> Void) -> String {
        var configuration = EtcdConfiguration(endpoints: ["http://127.0.0.1:2379"])
        change(&configuration)
        do throws(PreferenceError) {
            _ = try configuration.validated()
            return "nothing is wrong"
        } catch {
            same(error.code, .misuse)
            return error.message
        }
    }

    @Test(arguments: [
        (["http://127.0.0.1:2379/"], ["http://127.0.0.1:2379"]),
        (["HTTP://Etcd1.Example.com:2379"], ["http://etcd1.example.com:2379"]),
        (["http://a:1", "http://a:1/", "http://b:1", "http://A:1"], ["http://a:1", "http://b:1"]),
        (["http://[::1]:2379", "http://[::1]"], ["http://[::1]:2379", "http://[::1]"]),
        (["https://etcd_1.internal"], ["https://etcd_1.internal"]),
    ])
    func harmlessFormsAreNormalized(endpoints: [String], expected: [String]) throws {
        try same(EtcdConfiguration(endpoints: endpoints).validated().endpoints, expected)
    }

    @Test(arguments: [
        ("127.0.0.1:2379", "has no scheme; write scheme, host and port, such as \"http://etcd1.example.com:2379\""),
        ("localhost", "has no scheme"), ("", "has no scheme"),
        ("ftp://h:2379", "has another scheme than http and https"), ("://h:2379", "has another scheme"),
        ("http://h:2379/v3", "has a path, query or fragment"), ("http://h:2379//", "has a path, query or fragment"),
        ("http://h:2379?a=b", "has a path, query or fragment"), ("http://h#f", "has a path, query or fragment"),
        ("http://", "has no host"), ("http://:2379", "has no host"), ("http://[]:2379", "has no host"),
        ("http://h:", "has a port that isn't a number"), ("http://h:x", "has a port that isn't a number"),
        ("http://h:0", "has a port that isn't a number"), ("http://h:65536", "has a port that isn't a number"),
        ("http://h:-1", "has a port that isn't a number"), ("http://a b:1", "has an invalid host"),
        ("http://::1:2379", "has an invalid host"), ("http://[::x]:1", "has an invalid host"),
        (" http://h:2379", "has another scheme"),
    ])
    func invalidEndpointIsRejectedWithTheCorrectForm(endpoint: String, problem: String) {
        let message = message { $0.endpoints = ["http://right:1", endpoint] }
        #expect(message.contains("the endpoint \"\(endpoint)\" \(problem)"), "\(message)")
    }

    @Test
    func userAndPasswordInAnEndpointAreRejectedAndNotShown() {
        for endpoint in ["http://user:hunter2@h:2379", "http://user:hun/ter2@h:2379", "user:hunter2@h"] {
            let message = message { $0.endpoints = [endpoint] }
            #expect(message.contains("the endpoint \"…@h"), "\(message)")
            #expect(!message.contains("ter2"))
        }
    }

    @Test
    func missingAndUnencryptedEndpointsAreRejected() {
        #expect(message { $0.endpoints = [] }.contains("no endpoints"))
        let unencrypted = message { $0.tls = EtcdTLS() }
        #expect(unencrypted.contains("is not encrypted, though the configuration has tls; write"))
        #expect(unencrypted.contains("\"https://etcd1.example.com:2379\""))
    }

    @Test(arguments: [
        ("pre/", "pre"), ("/pre", "pre"), ("a//b", "a/b"), ("/", ""), ("//a///b//", "a/b"),
    ])
    func prefixWithAnEmptyPartIsRejectedWithTheCorrectForm(prefix: String, right: String) {
        #expect(message { $0.prefix = prefix }.hasSuffix("write \"\(right)\""))
        same(message { $0.prefix = right }, "nothing is wrong")
    }

    @Test
    func invalidTimesAreRejected() {
        for time in [Duration.zero, .seconds(-1)] {
            #expect(message { $0.timeout = time }.hasPrefix("timeout is"))
            #expect(message { $0.attemptTimeout = time }.hasPrefix("attemptTimeout is"))
            #expect(message { $0.probeInterval = time }.hasPrefix("probeInterval is"))
            #expect(message { $0.rebalanceInterval = time }.hasPrefix("rebalanceInterval is"))
        }
        same(message { $0.rebalanceInterval = nil }, "nothing is wrong")
        #expect(message { $0.maximumOperations = 3 }.contains("at least 4"))
    }

    @Test
    func emptyCredentialsAreRejected() {
        #expect(message { $0.credentials = EtcdCredentials(user: "", password: "x") }.contains("have no user"))
        let empty = message { $0.credentials = EtcdCredentials(user: "shop", password: "") }
        #expect(empty.contains("the credentials of \"shop\" have an empty password"))
    }

    @Test
    func passwordFileIsReadEachTimeWithoutTheNewlineAtItsEnd() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("password")
        let credentials = EtcdCredentials(user: "shop", passwordFile: path)
        for (text, password) in [("one\n", "one"), ("two", "two"), ("three\r\n", "three"), ("four\n\n", "four\n")] {
            try Data(text.utf8).write(to: URL(filePath: path))
            try same(credentials.password(), password)
        }
        try Data("\n".utf8).write(to: URL(filePath: path))
        #expect(throws: GatewayFailure.noPassword("\(path) has an empty password")) { try credentials.password() }
    }

    @Test
    func missingPasswordFileIsAnErrorAtOnce() {
        var configuration = EtcdConfiguration(endpoints: ["http://127.0.0.1:1"])
        configuration.credentials = EtcdCredentials(user: "shop", passwordFile: "/nowhere/password")
        let error = #expect(throws: PreferenceError.self) { try configuration.validated() }
        same(error?.code, .notPermitted)
        same(error?.message.contains("/nowhere/password"), true)
    }

    @Test
    func failureOfTheClosureIsReported() {
        struct Sealed: Error {}
        let credentials = EtcdCredentials(user: "shop") { throw Sealed() }
        #expect(throws: GatewayFailure.noPassword("the credentials' closure: Sealed()")) { try credentials.password() }
    }

    /// Returns the text that a debugger, `print` and `dump` show of a value.
    static func shown(_ value: Any) -> String {
        var text = "\(value) " + String(reflecting: value)
        dump(value, to: &text)
        return text
    }

    @Test
    func passwordsAndTokensAreNotShown() throws {
        var configuration = EtcdConfiguration(endpoints: ["http://127.0.0.1:1"])
        for credentials in [
            EtcdCredentials(user: "shop", password: "hunter2"), EtcdCredentials(user: "shop") { "hunter2" },
        ] {
            configuration.credentials = credentials
            try same(credentials.password(), "hunter2")
            for value in [credentials, configuration, try configuration.validated()] as [Any] {
                #expect(!Self.shown(value).contains("hunter2"))
                #expect(Self.shown(value).contains("shop"))
            }
        }
        var keeper = TokenKeeper(hasUser: true)
        keeper.set("hunter2")
        #expect(!Self.shown(keeper).contains("hunter2"))
        let request = AuthenticateRequest(name: "shop", password: "hunter2")
        #expect(!Self.shown(request).contains("hunter2"))
        let sent = GatewayRequest(endpoint: "e", path: "/p", body: Data("hunter2".utf8), token: "hunter2")
        #expect(!Self.shown(sent).contains("hunter2") && !Self.shown(sent).contains("7 bytes"))
    }
}
