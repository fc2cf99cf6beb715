#!/usr/bin/env python3
"""make check-unit: runs the unit tests whose program is newer than its last success (--all: every one).

After a change of one line those are the tests of what depends on it: seconds, where make check takes minutes.
Closes with "N passed, N failed, N unchanged"."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def unit_tests(build):
    """(name, command, environment, limit in seconds) of the tests that are one program of build/tests."""
    listing = subprocess.run(["ctest", "--test-dir", build, "-L", "^unit$", "--show-only=json-v1"],
                             check=True, stdout=subprocess.PIPE).stdout
    for test in json.loads(listing)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        program = pathlib.Path(test.get("command", ["/nowhere"])[0])
        if program.parent == build / "tests":
            settings = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
            yield test["name"], test["command"], settings, properties.get("TIMEOUT", 120)


def has_passed(stamp, program):
    return stamp.exists() and stamp.stat().st_mtime_ns > os.stat(program).st_mtime_ns


def run(test, stamps, folder):
    """The output of a test that failed, None of one that passed."""
    name, command, settings, limit_s = test
    try:
        result = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, timeout=limit_s,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name}: {error}"
    if result.returncode == 0:
        (stamps / pathlib.Path(command[0]).name).touch()
        return None
    return f"{name}: status {result.returncode}\n{result.stdout.decode(errors='replace')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also those that have not changed")
    options = parser.parse_args()
    build = options.build.resolve()
    stamps = build / "Testing" / "unit"
    stamps.mkdir(parents=True, exist_ok=True)
    tests = list(unit_tests(build))
    chosen = [test for test in tests
              if options.all or not has_passed(stamps / pathlib.Path(test[1][0]).name, test[1][0])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        failures = [text for text in threads.map(lambda test: run(test, stamps, build / "tests"), chosen) if text]
    for text in failures:
        print(text)
    print(f"{len(chosen) - len(failures)} passed, {len(failures)} failed, {len(tests) - len(chosen)} unchanged")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
