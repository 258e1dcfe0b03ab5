"""Prints random preferences files and how `reference` reads them, while they may go on and when they don't: `generate.py SEED COUNT`."""
import json, random, sys
from reference import dump_items

sys.setrecursionlimit(10000)
NAMES = ["a", "b", "volume", "theme", "window", "x", "y", "é", "e\u0301", "$comment", "$cost", "$$z", "$new", "$format", "$schema",
         "name with space", "\u0000n", "", "*/", "//", "{", "😀"]
TEXTS = ["", "dark", 'a"b', "\\", "*/", "/*", "//", '{"x":1}', "é", "😀", "\n{", "\t", "\u0000", "$null", "x" * 40]
WHOLE = [0, 1, -1, 7, 2**63 - 1, 2**63, -2**63, 2**64 - 1, 2**64, -2**63 - 1, 10**30]
REALS = [0.5, -0.0, 1e22, 1e300, 3.14159, 1e-300, 5e-324, 2.0]
TAGGED = [{"$data": "AAH+/w=="}, {"$data": "x"}, {"$real": "nan"}, {"$date": "2026-11-20T22:00:00.123Z"}, {"$date": 1e300}, {"$date": 5},
          {"$real": "x"}, {"$date": "2026-02-30T00:00:00Z"}, {"$new": [None, 1]}, {"a": 1, "$n": {"b": None}}, {"$date": 1, "z": 2},
          {"$unset": True}, {"$$unset": True}]
COMMENTS = ["// note\n", "/* c */", '/* {\n{"a":9}\n*/', "//{\n", "/**/", "/***/", "// a */ b\n", "/*/ */", "/* x\n y */"]
JUNK = ["<<<<<<< HEAD\n", "=======\n", "oops", "[1,2]\n", "\0\0\0", "#!/bin/sh\n", "*/*\n", "}", "]}\n", ",", "/", "/*", '"a":1\n',
        '  "a": 5,\n', "\n{\n", "{", '{"a":', '{"a":[', '{"b":"x', '{\n  "a": 1,\n  "b": [\n', '{\n  "k": 1\n  "l": {"m": 2}\n}\n', "1e999",
        "NaN", "\ufeff", '{"a":tru', '{"a":"\\ud800"}\n', "[" * 140]
BYTES = b'\n"{}/*\\\0 '
chance = random.Random(int(sys.argv[1]))


def value(depth=0):
    kind = chance.randrange(16)
    if kind < 3: return chance.choice(WHOLE)
    if kind < 5: return chance.choice(REALS)
    if kind < 8: return chance.choice(TEXTS)
    if kind == 8: return chance.random() < 0.5
    if kind == 9: return None
    if kind == 10: return chance.choice(TAGGED)
    if depth > 3: return 1
    if kind < 13: return [value(depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES): value(depth + 1) for _ in range(chance.randrange(4))}


def space(likely=0.15):
    text = ""
    while chance.random() < likely: text += chance.choice([" ", "\n", "\t", "\r\n", "\n\n", chance.choice(COMMENTS), "  "])
    return text


def written(value, depth=0, indentation=None):
    """A value as JSON with comments, spaces and trailing commas, each element on a line if an indentation is given."""
    if not isinstance(value, (dict, list)): return json.dumps(value, ensure_ascii=chance.random() < 0.5)
    def gap(): return space() if indentation is None or chance.random() < 0.2 else ""
    begin, end = "{}" if isinstance(value, dict) else "[]"
    if not value: return begin + gap() + end
    text = begin
    for index, key in enumerate(value):
        if indentation is not None:
            text += "\n" + indentation * (depth + 1)
            if indentation and chance.random() < 0.1: text += "// c\n" + indentation * (depth + 1)
        text += gap()
        if isinstance(value, dict): text += json.dumps(key, ensure_ascii=chance.random() < 0.5) + gap() + ":" + gap()
        text += written(value[key] if isinstance(value, dict) else key, depth + 1, indentation) + gap()
        if index < len(value) - 1 or chance.random() < 0.1: text += ","
        if indentation and chance.random() < 0.1: text += " // t"
    return text + ("" if indentation is None else "\n" + indentation * depth) + end


def members(count=None):
    found = {chance.choice(NAMES): value() for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 5]) if count is None else count)}
    if chance.random() > 0.02: found.pop("$format", None)
    if chance.random() > 0.03: found.pop("", None)
    return found


def entry():
    kind = chance.randrange(10)
    if kind < 4: return json.dumps(members(), separators=(",", ":"), ensure_ascii=chance.random() < 0.5) + "\n"
    if kind < 5: return json.dumps(members(), indent=chance.choice([0, 2, "\t", 4])) + "\n"
    if kind < 8: return written(members(), 0, chance.choice(["  ", "\t", "", " "])) + "\n"
    return written(members()) + chance.choice(["\n", "", "\n\n", " "])


def document():
    text = "\ufeff" if chance.random() < 0.03 else ""
    if chance.random() < 0.1: text += chance.choice(COMMENTS)
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        if chance.random() < 0.3: text += space(0.1)
        text += entry() if chance.random() < 0.9 else chance.choice(JUNK)
    if chance.random() < 0.02:
        text += '{"a":' + "[" * chance.choice([127, 128, 129]) + "]" * chance.choice([127, 128, 129]) + "}\n"
    if chance.random() < 0.1: text = text.replace("\n", "\r\n")
    return bytearray(text.encode("utf-8", "surrogatepass"))


def damaged(text):
    """A file as a crash, an editor, a disk or another writer may leave it."""
    kind, at = chance.randrange(8), chance.randrange(len(text) + 1)
    if kind == 0: return text[:at]
    if kind == 1 and text:
        for _ in range(chance.choice([1, 1, 2, 4])):
            text[chance.randrange(len(text))] = chance.choice([chance.randrange(256), chance.choice(BYTES)])
    if kind == 2: del text[at:at + chance.choice([1, 1, 2, 8])]
    if kind == 3:
        torn = json.dumps(members(2)).encode()
        text[at:at] = torn[:chance.randrange(len(torn))] + b"\n"
    if kind == 4 and chance.random() < 0.3: text[at:at] = b"\n*/*\n"
    return text


for _ in range(int(sys.argv[2])):
    text = bytes(damaged(document()))
    print(text.hex(), dump_items(text, False), dump_items(text, True), sep="\t")
