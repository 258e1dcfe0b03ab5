"""The modules of the package, by its manifest."""

import json
import subprocess
import sys


def core_targets(root):
    """The targets that a client of the product `Preferences` compiles, with their folders, each after those that it depends on."""
    dump = subprocess.run(["swift", "package", "--package-path", str(root), "dump-package"], capture_output=True, text=True)
    if dump.returncode: sys.exit(f"the manifest can't be read: {dump.stderr.strip()}")
    manifest = json.loads(dump.stdout)
    targets = {target["name"]: target for target in manifest["targets"]}
    found = {}

    def add(name):
        if name in found or name not in targets: return
        for dependency in targets[name]["dependencies"]:
            # Those of other packages are left out.
            for kind in ("byName", "target"):
                if kind in dependency: add(dependency[kind][0])
        found[name] = (targets[name].get("path") or f"Sources/{name}").rstrip("/")

    product = next(product for product in manifest["products"] if product["name"] == "Preferences")
    for name in product["targets"]: add(name)
    return found
