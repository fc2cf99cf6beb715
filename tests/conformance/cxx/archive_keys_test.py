#!/usr/bin/env python3
"""The keys of JSON archives are those of ROCprofiler-SDK 1.0.

    archive_keys_test.py PROGRAM KEYS.json

PROGRAM --samples prints an object for each structure. KEYS.json: what 1.0's own headers wrote of the
same samples, "a.b" for b within a, "a[].b" for b of a's elements; "own" has what only we archive.
"""
import json
import subprocess
import sys


def paths(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, prefix + "." + key if prefix else key)
    elif isinstance(value, list) and value:
        yield from paths(value[0], prefix + "[]")
    else:
        yield prefix


def objects(text):
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        found, at = decoder.raw_decode(text, at)
        yield from found.items()
        while at < len(text) and text[at].isspace():
            at += 1


def main():
    program, keys = sys.argv[1:]
    printed = subprocess.run([program, "--samples"], check=True, capture_output=True, text=True)
    found = {name: list(paths(value)) for name, value in objects(printed.stdout)}
    with open(keys, encoding="utf-8") as file:
        wanted = json.load(file)
    wanted = {**wanted["1.0"], **wanted["own"]}
    wrong = [name for name in {**found, **wanted} if found.get(name) != wanted.get(name)]
    for name in wrong:
        print("%s:\n  has   %s\n  wants %s" % (name, found.get(name), wanted.get(name)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
