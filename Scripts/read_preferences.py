#!/usr/bin/env python3
"""Prints the values of a preferences file: an example of reading one in another language."""
import base64, json, re, sys, unicodedata
from datetime import datetime
from fractions import Fraction


class Date(float): """Seconds since 2001-01-01T00:00:00Z."""
class Unknown(tuple): """An object of a form that a newer version has written."""
class NewerFormat(Exception): """The file needs a newer reader; none of its values must be used."""


def read(path):  # the values by name, and the numbers of the lines that can't be read
    values, damaged, lines = {}, [], open(path, "rb").read().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            values.update(entries(line.decode("utf-8-sig" if number == 1 else "utf-8")))
        except (ValueError, RecursionError):
            if number < len(lines): damaged.append(number)  # the last one may still be arriving
    return {name: found for name, found in values.items() if found is not None}, damaged


def entries(line):
    pairs, values, rest = (), {}, line.strip(" \t\r")
    while rest:  # more than one object if the line before had no newline
        found, end = JSON.raw_decode(rest)
        check(type(found) is tuple)
        pairs, rest = pairs + found, rest[end:].lstrip(" \t\r")
    for name, found in pairs:
        check(value(name) != "")
        if not is_reserved(name): values[key(name)] = None if found is None else value(found)
        if name == "$format":
            check(type(found) is int and found > 0)
            if found > 1: raise NewerFormat(found)
        if name == "$comment": check(type(found) is str and value(found) is found)
    return values


def value(found):
    match found:
        case list(): return [value(element) for element in found]
        case (("$data", str(text)),): return data(text)
        case (("$real", "nan" | "inf" | "-inf" as word),): return float(word)
        case (("$date", "nan" | "inf" | "-inf" as word),): return Date(word)
        case (("$date", str(text)),): return date(text)
        case (("$date", int() | float() as seconds),) if type(seconds) is not bool: return Date(value(seconds))
        case (("$data" | "$real" | "$date", _),): check(False)
        case tuple() if any(is_reserved(name) for name, _ in found):
            if found[0][0] in ("$data", "$real", "$date"): value(found[:1])
            for name, member in found:  # behind the first reserved key may be any JSON, also one that no value may have
                value(name)
                if is_reserved(name): return Unknown(found)
                value(member)
        case tuple(): return {key(name): value(member) for name, member in found}
        case str(): found.encode()  # raises an error for half of a surrogate pair
        case float(): check(abs(found) < float("inf"))
    check(found is not None)
    return found


def is_reserved(name): return re.match(r"\$(?!\$)", name)


def key(name):
    return unicodedata.normalize("NFC", value(name[1:] if name.startswith("$") else name))


def data(text):
    check(base64.b64encode(base64.b64decode(text)).decode() == text)
    return base64.b64decode(text)


def date(text):
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?Z", text, re.ASCII)
    check(found)
    whole = datetime(*map(int, found.groups()[:6])) - datetime(2001, 1, 1)
    return Date(whole.days * 86400 + whole.seconds + Fraction(found[7] or 0))


def integer(digits):
    return int(digits) if len(digits) < 21 and -(2**63) <= int(digits) < 2**64 else float(digits)


def check(condition):
    if not condition: raise ValueError


JSON = json.JSONDecoder(object_pairs_hook=tuple, parse_int=integer, parse_constant=lambda _: check(False))

if __name__ == "__main__":
    values, damaged = read(sys.argv[1])
    for name in sorted(values): print(f"{name} = {values[name]!r}")
    for number in damaged: print(f"line {number} can't be read", file=sys.stderr)
