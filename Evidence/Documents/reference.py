"""A slow reader of preferences files, written from the grammar alone, to compare the library's with."""
import base64, re, struct, unicodedata
from datetime import datetime
from fractions import Fraction


class Damage(Exception):
    """The text can't be read, whatever follows it."""


class Unfinished(Exception):
    """The text ends too early."""


REMOVED = object()
WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
TAGS = ("$data", "$real", "$date")
DEEPEST = 128
QUOTE, COMMA, SLASH, STAR, COLON, OPEN, CLOSE, LIST, LIST_END, NULL = b'",/*:{}[]n'


class Reader:
    """Reads one member, value or entry after another; a value is its kind and what it holds."""

    def __init__(self, text, end=None):
        self.text, self.end, self.is_newer = text, len(text) if end is None else end, False

    def blank(self, at):  # skips blanks and comments; there must be something after them
        while at < self.end:
            if self.text[at] in b" \t\r\n":
                at += 1
            elif self.text[at] == SLASH:
                if at + 1 >= self.end: raise Unfinished
                if self.text[at + 1] == SLASH: at = self.find(b"\n", at)
                elif self.text[at + 1] == STAR: at = self.find(b"*/", at + 2) + 2
                else: return at
            else:
                return at
        raise Unfinished

    def find(self, bytes, at):
        found = self.text.find(bytes, at, self.end)
        if found < 0: raise Unfinished
        return found

    def string(self, at):  # from the quote; returns the bytes between the quotes
        end = at + 1
        while True:
            if end >= self.end: raise Unfinished
            if self.text[end] == QUOTE: return self.text[at + 1:end], end + 1
            if self.text[end] < 0x20: raise Damage
            end += 2 if self.text[end] == ord("\\") else 1

    def decoded(self, bytes, is_skipped):
        try: text = bytes.decode("utf-8")
        except UnicodeDecodeError: raise Damage
        parts, at = [], 0
        while at < len(text):
            if text[at] != "\\":
                parts.append(text[at])
                at += 1
            elif text[at + 1] in ESCAPES:
                parts.append(ESCAPES[text[at + 1]])
                at += 2
            elif text[at + 1] == "u":
                part, at = self.code_point(text, at, is_skipped)
                parts.append(part)
            else:
                raise Damage
        return "".join(parts)

    def code_point(self, text, at, is_skipped):
        high = self.code_unit(text, at)
        at += 6
        low = self.code_unit(text, at) if 0xD800 <= high < 0xDC00 and text[at:at + 2] == "\\u" else None
        if low is not None and 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00), at + 6
        if not 0xD800 <= high < 0xE000: return chr(high), at
        if not is_skipped: raise Damage
        return "\ufffd", at + (6 if low is not None else 0)

    def code_unit(self, text, at):
        digits = re.compile(r"[0-9a-fA-F]{4}", re.A).match(text, at + 2)
        if not digits: raise Damage
        return int(digits[0], 16)

    def word(self, at, word):
        for index, byte in enumerate(word):
            if at + index >= self.end: raise Unfinished
            if self.text[at + index] != byte: raise Damage
        return at + len(word)

    def digits(self, at):
        end = at
        while end < self.end and self.text[end] in b"0123456789": end += 1
        if end == at: raise Unfinished if end >= self.end else Damage
        return end

    def number(self, at, is_skipped):
        start, is_real = at, False
        if self.text[at] == ord("-"): at += 1
        end = self.digits(at)
        if end - at > 1 and self.text[at] == ord("0"): raise Damage
        at = end
        if at < self.end and self.text[at] == ord("."): is_real, at = True, self.digits(at + 1)
        if at < self.end and self.text[at] in b"eE":
            at += 1
            if at < self.end and self.text[at] in b"+-": at += 1
            is_real, at = True, self.digits(at)
        text = self.text[start:at].decode()
        if not is_real and -(2**63) <= int(text) < 2**64: return ("i", int(text)), at
        real = float(text)
        if abs(real) == float("inf"):
            if at >= self.end: raise Unfinished
            if not is_skipped: raise Damage
        return ("r", real), at

    def value(self, at, depth, is_skipped):
        at = self.blank(at)
        first = self.text[at]
        if first == QUOTE:
            bytes, at = self.string(at)
            return ("s", self.decoded(bytes, is_skipped)), at
        if first == OPEN: return self.object(at, depth + 1, is_skipped)
        if first == LIST: return self.list(at, depth + 1, is_skipped)
        if first == ord("t"): return ("T",), self.word(at, b"true")
        if first == ord("f"): return ("F",), self.word(at, b"false")
        return self.number(at, is_skipped)

    def list(self, at, depth, is_skipped):
        if depth > DEEPEST: raise Damage
        found, at = [], self.blank(at + 1)
        while self.text[at] != LIST_END:
            if self.text[at] == NULL:
                found.append(("s", "$null"))
                at = self.word(at, b"null")
            else:
                value, at = self.value(at, depth, is_skipped)
                found.append(value)
            at = self.comma(at, LIST_END)
        return ("[", found), at + 1

    def comma(self, at, bracket):  # returns where the next element or the bracket is
        at = self.blank(at)
        if self.text[at] == bracket: return at
        if self.text[at] != COMMA: raise Damage
        return self.blank(at + 1)

    def key(self, at, is_skipped):  # returns the name, whether it is reserved, and where the colon ends
        if self.text[at] != QUOTE: raise Damage
        bytes, at = self.string(at)
        text = self.decoded(bytes, is_skipped)
        at = self.blank(at)
        if self.text[at] != COLON: raise Damage
        if is_skipped or not text.startswith("$"): return text, False, at + 1
        return (text[1:], False, at + 1) if text[1:2] == "$" else (text, True, at + 1)

    def skip(self, at, depth):
        at = self.blank(at)
        return self.word(at, b"null") if self.text[at] == NULL else self.value(at, depth, True)[1]

    def object(self, start, depth, is_skipped):
        found, at, is_first = {}, self.blank(start + 1), True
        while self.text[at] != CLOSE:
            name, is_reserved, at = self.key(at, is_skipped)
            if is_reserved:
                if is_first and name in TAGS:
                    value, at = self.tagged(name, at)
                    at = self.comma(at, CLOSE)
                    if self.text[at] == CLOSE: return value, at + 1
                end = self.skip(start, depth - 1)
                return ("u", self.one_line(start, end)), end
            if depth > DEEPEST: raise Damage
            is_first, at = False, self.blank(at)
            if self.text[at] == NULL:
                found.pop(composed(name), None)
                at = self.word(at, b"null")
            else:
                value, at = self.value(at, depth, is_skipped)
                found.setdefault(composed(name), [name, 0])[1] = value
            at = self.comma(at, CLOSE)
        if depth > DEEPEST: raise Damage
        return ("{", dict(found.values())), at + 1

    def tagged(self, tag, at):
        at = self.blank(at)
        if self.text[at] in b"{[": raise Damage
        (kind, *content), at = self.value(at, 0, False)
        match tag, kind, content:
            case "$data", "s", [text]:
                try: data = base64.b64decode(text.encode("ascii"), validate=True)
                except ValueError: raise Damage
                if base64.b64encode(data).decode() != text: raise Damage
                return ("d", data), at
            case "$real", "s", [text] if text in WORDS: return ("r", WORDS[text]), at
            case "$date", "s", [text]: return ("t", WORDS[text] if text in WORDS else seconds(text)), at
            case "$date", "i" | "r", [number]: return ("t", float(number)), at
        raise Damage

    def one_line(self, at, end):  # a text without blanks and comments
        reader, found = Reader(self.text, end), b""
        while True:
            try: at = reader.blank(at)
            except Unfinished: return found
            next = self.string(at)[1] if self.text[at] == QUOTE else at + 1
            found, at = found + self.text[at:next], next

    def member(self, at):  # returns whether it is reserved, its name and its value
        name, is_reserved, at = self.key(at, False)
        if name == "": raise Damage
        at = self.blank(at)
        if is_reserved and name == "$format":
            (kind, *content), at = self.value(at, 0, False)
            if kind != "i" or content[0] < 1: raise Damage
            self.is_newer = self.is_newer or content[0] > 1
            return (True, name, None), at
        if is_reserved: return (True, name, None), self.skip(at, 0)
        if self.text[at] == NULL: return (False, name, REMOVED), self.word(at, b"null")
        value, at = self.value(at, 0, False)
        return (False, name, value), at

    def entry(self, at):
        members, at = [], self.blank(at + 1)
        while self.text[at] != CLOSE:
            member, at = self.member(at)
            members.append(member)
            at = self.comma(at, CLOSE)
        return members, at + 1


def seconds(text):  # since 2001
    parts = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?Z", text, re.A)
    if not parts: raise Damage
    try: passed = datetime(*map(int, parts.groups()[:6])) - datetime(2001, 1, 1)
    except ValueError: raise Damage
    return float(passed.days * 86400 + passed.seconds + Fraction(parts[7] or 0))


def composed(name): return unicodedata.normalize("NFC", name)


REST_OF_LINE = re.compile(rb"(?:[ \t\r]|/\*(?:[^\n*]|\*(?!/))*\*/|//[^\n]*(?=\n))*")


def recovered(text, start, end, top):
    """The members of a damaged text on lines of their own that are indented as the first is."""
    line, found, indentation = text.find(b"\n", start, end) + 1, [], None
    if line == 0 or text[start] != OPEN: return found
    while line < end:
        next = text.find(b"\n", line, end) + 1 or end
        begin = re.compile(rb"([ \t]*)\"").match(text, line, end)
        if begin:
            if indentation is None: indentation = begin[1]
            if not indentation: return found
            if begin[1] == indentation:
                reader = Reader(text, end)
                try:
                    member, at = reader.member(line + len(indentation))
                    rest = end_of_line(text, at, end)
                    if rest is not None:
                        found.append(member)
                        next = rest
                except (Damage, Unfinished):
                    pass
                top.is_newer = top.is_newer or reader.is_newer
        line = next
    return found


def end_of_line(text, at, end):
    """Where the line of a member ends; none if more follows the member, or the line was cut off."""
    at = REST_OF_LINE.match(text, at, end).end()
    if at < end and text[at] == COMMA: at = REST_OF_LINE.match(text, at + 1, end).end()
    is_closed = at < end and text[at] == CLOSE
    if is_closed: at = REST_OF_LINE.match(text, at + 1, end).end()
    if at < end: return at + 1 if text[at] == 10 and (is_closed or not text[at + 1:end].startswith(b"*/*\n")) else None
    return end if is_closed else None


def items(text, is_final):
    """The entries and damaged texts, where the rest begins, how it ends, and whether the format is too new."""
    top, found, at = Reader(text), [], 3 if text.startswith(b"\xef\xbb\xbf") else 0
    while True:
        at, is_comment = skip_blank(text, at)
        if at >= len(text) or is_comment: return found, at, ".", top.is_newer
        try:
            if text[at] == SLASH and text[at + 1:at + 2] in (b"", b"*"): raise Unfinished
            if text[at] != OPEN: raise Damage
            members, end = top.entry(at)
            found.append(("E", at, end, members))
            at = end
            continue
        except Damage: is_open = False
        except Unfinished: is_open = True
        end = text.find(b"\n{", at) + 1 or len(text)
        if is_open and text[at:at + 2] == b"/*": end = len(text)
        if not is_final and (end == len(text) or is_open): return found, at, "?", top.is_newer
        found.append(("D", at, end, recovered(text, at, end, top)))
        at = end


def skip_blank(text, at):
    """Where something begins that is neither blank nor a comment, or a comment without the end of its line."""
    while at < len(text):
        if text[at] in b" \t\r\n": at += 1
        elif text[at:at + 2] == b"//":
            end = text.find(b"\n", at)
            if end < 0: return at, True
            at = end
        elif text[at:at + 2] == b"/*" and (end := text.find(b"*/", at + 2)) >= 0: at = end + 2
        else: return at, False
    return at, False


def bits(real): return "nan" if real != real else "%x" % struct.unpack(">Q", struct.pack(">d", real))[0]


def dump(value):
    if value is REMOVED: return "-"
    match value:
        case (("T" | "F") as kind,): return kind
        case "i", number: return "i%d" % number
        case ("r" | "t") as kind, real: return kind + bits(real)
        case "s", text: return "s" + text.encode().hex()
        case ("d" | "u") as kind, data: return kind + data.hex()
        case "[", elements: return "[" + ",".join(map(dump, elements)) + "]"
        case "{", members:
            return "{" + ",".join(sorted(k.encode().hex() + ":" + dump(v) for k, v in members.items())) + "}"


def dump_items(text, is_final):
    """All that a reader says of a file, as one line."""
    found, at, state, is_newer = items(text, is_final)
    parts = []
    for kind, start, end, members in found:
        shown = [("$" if r else "") + n.encode().hex() + "=" + ("" if r else dump(v)) for r, n, v in members]
        parts.append("%s%d-%d %s" % (kind, start, end, ";".join(shown)))
    return "|".join(parts + [state + str(at) + ("N" if is_newer else "")])
