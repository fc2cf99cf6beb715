"""Runtimes are told apart by their rows (src/model/runtime.h), never by a name in the code.

Fails for every text in the engine that is the name of a row of src/intercept/runtimes.c, there excepted. Tests
and comments may say what they like; src/api/register is a library of its own, with rows of its own.
"""
import os
import re
import sys

ROWS = "src/intercept/runtimes.c"
FOLDERS = ("model", "runtime", "intercept", "session", "tracebuf", "topology", "codeobj")
NAME = re.compile(r'\.name\s*=\s*"([^"]+)"')
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)


def sources(root):
    for top in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, "src", top)):
            if os.path.basename(folder) == "test":
                continue
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith((".c", ".h")) and not name.endswith("_test.c"):
                    yield path


def main():
    root = sys.argv[1]
    rows = os.path.join(root, ROWS)
    with open(rows, encoding="utf-8") as file:
        names = set(NAME.findall(file.read()))
    bad = 0 if names else 1
    for path in sources(root):
        if os.path.samefile(path, rows):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in COMMENT_OR_TEXT.finditer(text):
            if match.group()[0] == '"' and match.group()[1:-1] in names:
                line = text.count("\n", 0, match.start()) + 1
                print(f"{os.path.relpath(path, root)}:{line}: {match.group()} is the name of a runtime: ask its row")
                bad += 1
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
