"""The names that each source refers to and declares, by the index of a debug build, and those that a module makes public."""

import ctypes
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

# The roles that a name has in a source, as bits (indexstore.h).
DEFINED = 1 << 1


class Text(ctypes.Structure):
    """A string of the index library."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


def read_index(folder):
    """The mangled names in each source of each module, with their roles."""
    library = ctypes.CDLL(pathlib.Path(shutil.which("swiftc")).resolve().parent.parent / "lib" / "libIndexStore.so")
    pointer = ctypes.c_void_p

    def call(name, result, *arguments):
        function = getattr(library, "indexstore_" + name)
        function.restype = result
        return function(*arguments)

    store = pointer(call("store_create", pointer, os.fsencode(folder), None))
    if not store:
        sys.exit(f"{folder} isn't an index; build without optimization")
    units, found = [], {}
    add_unit = ctypes.CFUNCTYPE(ctypes.c_bool, pointer, Text)(lambda _, name: units.append(str(name)) or True)
    call("store_units_apply_f", ctypes.c_bool, store, ctypes.c_uint(0), None, add_unit)
    for unit in units:
        reader = pointer(call("unit_reader_create", pointer, store, unit.encode(), None))
        if not reader or call("unit_reader_is_system_unit", ctypes.c_bool, reader):
            continue
        place = (str(call("unit_reader_get_module_name", Text, reader)), str(call("unit_reader_get_main_file", Text, reader)))
        records = []

        def add_symbols(_, symbol):
            roles = call("symbol_get_roles", ctypes.c_uint64, pointer(symbol))
            if roles:
                names, name = found.setdefault(place, {}), str(call("symbol_get_usr", Text, pointer(symbol)))
                names[name] = names.get(name, 0) | roles
            return True

        def add_record(_, dependency):
            is_record = call("unit_dependency_get_kind", ctypes.c_int, pointer(dependency)) == 2
            if is_record and str(call("unit_dependency_get_filepath", Text, pointer(dependency))) == place[1]:
                records.append(str(call("unit_dependency_get_name", Text, pointer(dependency))))
            return True

        visitor = ctypes.CFUNCTYPE(ctypes.c_bool, pointer, pointer)
        call("unit_reader_dependencies_apply_f", ctypes.c_bool, reader, None, visitor(add_record))
        for name in records:
            record = pointer(call("record_reader_create", pointer, store, name.encode(), None))
            call("record_reader_symbols_apply_f", ctypes.c_bool, record, ctypes.c_bool(True), None, visitor(add_symbols))
            call("record_reader_dispose", None, record)
        call("unit_reader_dispose", None, reader)
    return found


def public_symbols(build, module):
    """The symbol graphs of what a module of a debug build makes public."""
    products = build / "debug"
    with tempfile.TemporaryDirectory() as folder:
        # The C modules: those of this package, and those of other packages that a module's imports load.
        maps = [*products.glob("*.build/module.modulemap"), *build.glob("checkouts/*/Sources/*/include/module.modulemap")]
        subprocess.run(["swift", "symbolgraph-extract", "-module-name", module, "-target", f"{platform.machine()}-unknown-linux-gnu",
                        "-I", products / "Modules", *(option for path in maps for option in ("-Xcc", f"-fmodule-map-file={path}")),
                        "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder], check=True)
        return [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.symbols.json")]
