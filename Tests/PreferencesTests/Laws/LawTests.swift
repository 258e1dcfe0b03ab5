import FileTestSupport
import Foundation
import Testing

/// The laws over sequences of calls that seeds make, by the program `laws`, whose release build checks more of them.
struct LawTests {
    @Test(arguments: [("stacks", 100), ("closed", 1000), ("evolution", 100)])
    func sequencesOfCallsKeepTheLaw(name: String, rounds: Int) throws {
        let (laws, output) = (Process(), Pipe())
        laws.executableURL = URL(filePath: BuiltProgram.path("laws"))
        laws.arguments = [name, "\(rounds)"]
        laws.standardOutput = output
        try laws.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        laws.waitUntilExit()
        #expect(laws.terminationStatus == 0, "\(text)")
    }
}
