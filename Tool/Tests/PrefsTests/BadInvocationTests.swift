import Foundation
import Testing

/// A wrong invocation writes a message to standard error, ends with an exit code, and changes no file.
struct BadInvocationTests {
    /// Invocations with their exit code and a part of the message.
    static let invocations: [(line: String, status: Int32, message: String)] = [
        ("reed app", 2, "there is no command \"reed\""),
        ("--colour read app", 2, "Unknown option '--colour'"),
        ("--user pitt read app", 2, "need --etcd"),
        ("--password secret read app", 2, "every user of the machine can see"),
        ("--user pitt:secret read app", 2, "every user of the machine can see"),
        ("--etcd http://127.0.0.1:2379 reed app", 2, "there is no command \"reed\""),
        ("read app volume more", 2, "\"more\" is one word too many"),
        ("read app --plain", 2, "Unknown option '--plain'"),
        ("read app nope", 1, "\"nope\" is not set in the suite \"app\""),
        ("read nope", 1, "the suite \"nope\" doesn't exist"),
        ("read ../app", 2, "it contains \"/\""),
        ("read /etc/passwd", 2, "it contains \"/\""),
        ("read .config", 2, "it begins with a dot"),
        ("read --file nope.jsonl", 1, "there is no file nope.jsonl"),
        ("read --file config", 2, "isn't a regular file"),
        ("read --file newer.jsonl", 3, "format 2"),
        ("write", 2, "name a suite, or a file by --file"),
        ("write app", 2, "the name of the preference is missing"),
        ("write app volume", 2, "the value is missing"),
        ("write app volume loud", 2, "For text use: -string 'loud'"),
        ("write app volume -int loud", 2, "not a whole number"),
        ("write app volume -int", 2, "the value after -int is missing"),
        ("write app volume -int 1 2", 2, "\"2\" is one word too many"),
        ("write app volume -float x", 2, "not a number"),
        ("write app volume -bool x", 2, "neither true, yes or 1"),
        ("write app volume -data xx", 2, "hexadecimal"),
        ("write app volume -date 20.11.2026", 2, "not a date"),
        ("write app volume -date 2026-13-20T22:00:00Z", 2, "not a date"),
        ("write app volume -dict k", 2, "has no value"),
        ("write app volume -array -int x", 2, "not a whole number"),
        ("write app volume -array-add 1", 2, "needs an array"),
        ("write app volume -dict-add k 1", 2, "needs a dictionary"),
        ("write app volume -bin 1", 2, "isn't a type"),
        ("write app volume [1", 2, "it ends too early"),
        ("write app volume null", 2, "null"),
        ("write app volume 1e999", 2, "can't be read as JSON"),
        ("write app -int 5", 2, "the name of the preference is missing"),
        ("write ../app volume 5", 2, "it contains \"/\""),
        ("write app volume 5 --file x", 2, "one word too many"),
        ("write --file newer.jsonl volume 5", 3, "format 2"),
        ("write --file config volume 5", 2, "isn't a regular file"),
        ("write --file a.json/x volume 5", 2, "Not a directory"),
        ("delete app", 2, "or give --all"),
        ("delete app nope", 1, "is not set"),
        ("delete app volume nope", 1, "is not set"),
        ("delete app volume --all", 2, "exclude each other"),
        ("delete nope --all", 1, "doesn't exist"),
        ("rename app volume", 2, "the new name is missing"),
        ("rename app volume theme", 2, "--force"),
        ("rename app nope new", 1, "is not set"),
        ("rename app volume volume", 2, "the same"),
        ("undo", 2, "name a suite, or a file by --file"),
        ("undo nope --yes", 1, "doesn't exist"),
        ("undo app nope --yes", 1, "no line of the suite \"app\" changes \"nope\""),
        ("undo app volume more --yes", 2, "\"more\" is one word too many"),
        ("undo app", 2, "give --yes"),
        ("undo --file newer.jsonl --yes", 3, "format 2"),
        ("undo --file config --yes", 2, "isn't a regular file"),
        ("import app - --keep --replace", 2, "exclude each other"),
        ("find", 2, "the text to find is missing"),
        ("find xyzzy", 1, "nothing contains"),
        ("help reed", 2, "there is no command \"reed\""),
        ("describe", 2, "name a suite"),
        ("describe nope", 1, "doesn't exist"),
        ("describe app nope", 1, "neither set"),
        ("describe app volume more", 2, "one word too many"),
        ("describe declared.app", 3, "can't be read"),
        ("write declared volume 11", 2, "outside 0...10"),
        ("write declared volume -string x", 2, "it isn't of type integer"),
        ("import declared loud.json", 2, "outside 0...10"),
        ("list app more", 2, "one word too many"),
        ("list nope", 1, "doesn't exist"),
        ("read --origin", 2, "name a suite"),
        ("read app volum", 1, "did you mean \"volume\"?"),
        ("read app volume.x", 1, "is not set in"),
        ("write declared volume.x 1", 2, "isn't declared by"),
        ("write app volume null", 2, "`prefs delete app volume` removes"),
        ("write declared volum 1", 2, "isn't declared by"),
        ("write declared volum 1 --file", 2, "one word too many"),
        ("set declared volume 11", 2, "outside 0...10"),
        ("path", 2, "the suite is missing"),
        ("path a/b", 2, "it contains \"/\""),
        ("diff app", 2, "what to compare with is missing"),
        ("diff app nope", 1, "doesn't exist"),
        ("import app nope.json", 1, "No such file"),
        ("import app broken.json", 3, "a name in quotes is missing"),
        ("import app config", 2, "Is a directory"),
        ("import app list.json", 3, "can't be imported"),
        ("import app broken.plist", 3, "can't be read as a property list"),
        ("import app broken.bplist", 3, "can't be read as a property list"),
        ("import app", 2, "UserDefaults has no file"),
        ("export app --format toml", 2, "'json', 'xml' or 'lines'"),
        ("export app nope/out.json", 1, "No such file"),
        ("export app config", 2, "Is a directory"),
        ("export nope", 1, "doesn't exist"),
        ("check nope", 1, "there is no file"),
        ("check --file damaged.jsonl", 3, "check --repair"),
        ("compact nope", 1, "there is no file"),
        ("compact --file newer.jsonl", 3, "format 2"),
        ("edit", 2, "name a suite"),
        ("watch .", 2, "can't name a suite"),
        ("watch app volume more", 2, "one word too many"),
    ]

    @Test(arguments: invocations)
    func badInvocationSaysWhyAndChangesNothing(_ line: String, _ status: Int32, _ message: String) throws {
        let tool = try Tool()
        try tool.write("{\"volume\":5,\"theme\":\"dark\"}\n", to: "config/app/preferences.jsonl")
        try tool.write("{\"$format\":2}\n", to: "newer.jsonl")
        try tool.write("{\"a\":1}\n{\"a\":\n{\"b\":2}\n", to: "damaged.jsonl")
        try tool.write("{\"a\":1,,}", to: "broken.json")
        try tool.write("[1]", to: "list.json")
        try tool.write("<plist version=\"1.0\"><dict><key>a</key></dict></plist>", to: "broken.plist")
        try tool.write("bplist00\u{1}\u{2}", to: "broken.bplist")
        try tool.write("{}", to: "a.json")
        try tool.write("{\"volume\":11}", to: "loud.json")
        let schema = "{\"properties\":{\"volume\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10}}}"
        try tool.write(schema, to: "system/declared/preferences.schema.json")
        try tool.write("[1]", to: "system/declared.app/preferences.schema.json")
        let before = try tool.files()
        let run = try tool.run(line)
        #expect(run.status == status, "\(run)")
        #expect(run.error.hasPrefix("prefs: ") && run.error.contains(message), "\(run)")
        #expect(try tool.files() == before)
    }
}
