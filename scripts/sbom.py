#!/usr/bin/env python3
"""sbom.py TARGET-TRIPLE - what the release is made of, as CycloneDX 1.5 on standard output. `make sbom` calls it.

From `cargo tree`, `cargo metadata` and the hashes of Cargo.lock. `required`: what is in the library; `optional`: what only the command line
has; `excluded`: what runs while they are built and is in neither. What only tests and benches use is left out. The same tree gives
the same bytes: SOURCE_DATE_EPOCH is the time, else there is none.
"""

import datetime
import json
import os
import subprocess
import sys
import tomllib
import uuid


Package = tuple[str, str]  # name and version


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def tree(triple: str, edges: str, *features: str) -> dict[Package, set[Package]]:
    """What each package leads to, the product's own first. `cargo metadata` would turn on what tests ask of a dependency."""
    found: dict[Package, set[Package]] = {}
    way: list[Package] = []
    arguments = ["--locked", "--target", triple, "--edges", edges, "--prefix", "depth", "--format", " {p}", *features]
    for line in cargo("tree", *arguments).splitlines():
        depth, name, version, *_ = line.split()
        package = (name, version.removeprefix("v"))
        way[int(depth) :] = [package]
        found.setdefault(package, set())
        if int(depth) > 0:
            found[way[int(depth) - 1]].add(package)
    return found


def purl(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, hashes: dict) -> dict:
    entry = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package.get("description"):
        entry["description"] = " ".join(package["description"].split())
    if package.get("license"):
        # `/` is how SPDX expressions were once written in Cargo.toml.
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if digest := hashes.get((package["name"], package["version"])):
        entry["hashes"] = [{"alg": "SHA-256", "content": digest}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def main() -> None:
    triple = sys.argv[1]
    library = tree(triple, "normal,no-proc-macro", "--no-default-features")
    linked, everything = tree(triple, "normal,no-proc-macro"), tree(triple, "normal,build")
    root = next(iter(everything))
    described = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", triple))["packages"]
    packages = {(package["name"], package["version"]): package for package in described}
    with open("Cargo.lock", "rb") as lock:
        hashes = {(p["name"], p["version"]): p.get("checksum") for p in tomllib.load(lock)["package"]}

    components = []
    for package in sorted(everything.keys() - {root}):
        scope = "required" if package in library else "optional" if package in linked else "excluded"
        components.append(component(packages[package], hashes) | {"scope": scope})
    dependencies = [
        {"ref": purl(packages[package]), "dependsOn": sorted(purl(packages[needed]) for needed in everything[package])}
        for package in sorted(everything)
    ]

    about = {
        "tools": {"components": [{"type": "application", "name": "scripts/sbom.py of mcp-select"}]},
        "component": component(packages[root], hashes),
        "properties": [{"name": "cargo:target", "value": triple}],
    }
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        about = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ")} | about
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": about,
        "components": components,
        "dependencies": dependencies,
    }
    # Named by what it says, so that the same tree gives the same document.
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))
    json.dump({"serialNumber": f"urn:uuid:{name}"} | bom, sys.stdout, indent=1)
    print()


main()
