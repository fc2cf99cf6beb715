"""promises*.txt: numbered without gaps, and every test that it names exists and is run."""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def source_of(name):
    for folder in (HERE, ROOT):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return f.read()
    return None


def is_run(source, name, test):
    if name.endswith(".py"):
        return re.search(rf"^(    def {test}\(self|def {test}\(checks)", source, re.M) is not None
    # X(name): of a list that a program makes its tests from
    return any(f"{how}{test}" in source for how in (
        "cmocka_unit_test(", "cmocka_unit_test_setup_teardown(", "    X("))


def faults(lines):
    counts = {}
    for line in lines:
        number, _, tests = [word.strip() for word in line.split("|")]
        letter = number[0]
        counts[letter] = counts.get(letter, 0) + 1
        if number[1:] != str(counts[letter]):
            yield f"{number}: expected {letter}{counts[letter]}"
        for reference in tests.split(","):
            name, test = [word.strip() for word in reference.split(":")]
            source = source_of(name)
            if source is None:
                yield f"{number}: no file {name}"
            elif not is_run(source, name, test):
                yield f"{number}: {name} runs no test {test}"


def main():
    lines = []
    for path in sorted(glob.glob(os.path.join(HERE, "promises*.txt"))):
        with open(path, encoding="utf-8") as f:
            lines += [l for l in f if l.strip() and not l.startswith("#")]
    found = list(faults(lines))
    print("\n".join(found) if found else f"{len(lines)} promises, each with its tests")
    sys.exit(bool(found) or len(lines) < 150)


if __name__ == "__main__":
    main()
