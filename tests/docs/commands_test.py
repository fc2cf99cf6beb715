"""A page of the documentation does what it says: its files are written, its commands run, and what they
print is what the page shows.

    commands_test.py [--write] PAGE BUILD

Blocks "```cpp file=NAME" (any language) are files, blocks "```console" are commands behind "$ " with their
output, all in one empty directory with BUILD/bin in the path. What differs from run to run (wall times, process numbers) is
compared as '#', and lines of tables that are ordered by time in any order. --write puts the output of this run into the page.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.S | re.M)
CHANGING = (
    (r"[\d.]+ (ns|us|ms|s) each by the wall clock", "# each by the wall clock"),
    (r"^( *\d+)( +\d+\.\d{3} +\d+\.\d\d)?( +\d+\.\d{3}){4} +\d+\.\d\d ", r"\1 # "),  # a row of a summary: calls, times, share
    (r"^(\d+ +\d+) +\d+ +\d+ +[-+]\d+\.\d+( +[\d.]+)?( +\*+)? +(transpose|MEMORY)", r"\1 # \4"),  # of a comparison of times
    (r"^process \d+:", "process #:"),
    (r" +", " "),
)


def plain(text):
    """What is compared."""
    lines = text.rstrip("\n").split("\n")
    for pattern, replacement in CHANGING:
        lines = [re.sub(pattern, replacement, line) for line in lines]
    return sorted(lines)


def command_run(command, folder, build):
    environment = dict(os.environ, PATH=os.path.join(build, "bin") + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    return done.stdout


def console_run(text, folder, build, failures):
    """The block as this run makes it."""
    made = ""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, shown = part.split("\n", 1)
        output = command_run(command, folder, build)
        made += "$ %s\n%s" % (command, output)
        if plain(output) != plain(shown):
            failures.append("$ %s\nthe page shows:\n%sbut it prints:\n%s" % (command, shown, output))
    return made


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    page, build = os.path.abspath(words[0]), os.path.abspath(words[1])
    with open(page, encoding="utf-8") as file:
        text = file.read()
    failures, pieces, at = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block in BLOCK.finditer(text):
            language, name, content = block.groups()
            if name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            elif language == "console":
                content = console_run(content, folder, build, failures)
            pieces += [text[at:block.start(3)], content]
            at = block.end(3)
    if "--write" in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write("".join(pieces) + text[at:])
        return 0
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
