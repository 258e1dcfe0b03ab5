import Configuration
import Foundation
import Logging
import Preferences
import PreferencesConfiguration
import ServiceLifecycle

/// A service that prints a greeting, again after each change of it by the user or in the file that it was deployed with.
///
///     $ echo '{"greeting": "Hello"}' > greeter.json
///     $ GREETER_NAME=Ada swift run --package-path Examples/Service greeter
///     Hello, Ada! (greeting: greeter.json, name: environment)
///
/// While it runs, change the file, or run `prefs write com.example.greeter name Pitt` in another shell. `Fleet.swift` adds the settings
/// that all greeters of a fleet share.
@main
struct Greeter {
    static func main() async throws {
        let file = try await ReloadingFileProvider<JSONSnapshot>(
            filePath: "greeter.json",
            allowMissing: true,
            pollInterval: .milliseconds(500)
        )
        let environment = EnvironmentVariablesProvider().prefixKeys(with: "greeter")
        // The value comes from the first store that has one, else from the declared default.
        var layers: [PreferenceStore] = [
            .suite("com.example.greeter"),
            .configuration(ConfigReader(provider: environment), for: GreeterPreferences.self, named: "environment"),
        ]
        var services: [any Service] = [file]
        #if Etcd
        if let fleet = try Fleet(of: ProcessInfo.processInfo.environment) {
            layers.append(fleet.store.readOnly(named: "fleet"))
            services += fleet.services
        }
        #endif
        layers.append(
            .configuration(ConfigReader(provider: file), for: GreeterPreferences.self, named: "greeter.json")
        )
        services.append(GreeterService(store: .layered(layers)))
        let group = ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "greeter")
        )
        try await group.run()
    }
}

struct GreeterPreferences: PreferenceGroup {
    @Preference("greeting", .length(1...40), .description("The first word")) var greeting = "Hello"
    @Preference("name", .length(1...40), .description("Who is greeted")) var name = "world"
}

struct GreeterService: Service {
    let store: PreferenceStore

    func run() async throws {
        // Otherwise the first read would block this task until etcd answers. Layers that can't be read have no values, and the others count.
        do throws(PreferenceError) { try await store.load() } catch { PreferenceStore.defaultIssueHandler(error) }
        let preferences = GreeterPreferences(in: store)
        let updates = PreferenceStore.updates(of: preferences.$greeting, preferences.$name).cancelOnGracefulShutdown()
        for await (greeting, name) in updates {
            let sources = "(greeting: \(preferences.$greeting.source), name: \(preferences.$name.source))"
            show("\(greeting), \(name)! \(sources)")
        }
        show("Goodbye, \(preferences.name)!")
    }

    /// Prints a line without buffering, also into a pipe.
    private func show(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
