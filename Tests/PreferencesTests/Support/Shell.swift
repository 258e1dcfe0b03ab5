import Foundation
import Testing

/// Runs a script with `/bin/sh` in which `$1` is a program, with no variables but those given, and those of a sanitizer; returns what it
/// prints.
///
/// - Parameter output: The path of a file for the output.
func shell(
    _ script: String,
    _ program: String,
    variables: [String: String],
    output: String
) throws -> String {
    let shell = "/bin/sh"
    let texts = [shell, "-c", "exec >\"$0\" 2>&1; " + script, output, program]
    var others = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    if let options = getenv("ASAN_OPTIONS") { others["ASAN_OPTIONS"] = String(cString: options) }
    _ = try statusOfProgram(texts, variables: variables.merging(others) { given, _ in given })
    return String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
}

/// Runs the program at the path that is its first argument, and returns the status with which it ended.
func statusOfProgram(_ texts: [String], variables: [String: String]) throws -> Int32 {
    var arguments = texts.map { strdup($0) } + [nil]
    var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var process = pid_t()
    try #require(posix_spawn(&process, texts[0], nil, nil, &arguments, &environment) == 0)
    var status = Int32()
    try #require(waitpid(process, &status, 0) == process)
    return status
}
