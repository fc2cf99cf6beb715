"""kill -9 before each operation on a file that a profiled process makes: whatever is left can be read.

    killed_anywhere_test.py CROCPROF PROGRAMS KILL_AT_LIBRARY [STEP [FIRST]]

STEP takes every so-manieth operation behind the first FIRST ones, which are the opening of files.
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile

from crocprof_run import Checks
from killed_test import ENDS, FORMATS, ROWS_END, ids_of

LAUNCHES = 20


def run_killed(crocprof, programs, library, options, directory, number):
    """Status and words of a run whose program is killed before its operation of that number."""
    environment = dict(os.environ, KILL_AT=str(number), KILL_AT_DIRECTORY=directory, KILL_AT_PROGRAM="launches")
    command = [crocprof, "--no-summary", *options, "-d", directory, "--", "sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"',
               library, os.path.join(programs, "launches"), str(LAUNCHES)]
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    return done.returncode, done.stderr


def check_files(checks, what, directory):
    """Formats that were begun: none is empty, each can be read, and no launch is there twice."""
    names = sorted(os.listdir(directory))
    checks.true("%s: no rows are left: %r" % (what, names), not any(name.endswith(ROWS_END) for name in names))
    checks.true("%s: no archive in the making: %r" % (what, names), not any(name.endswith(".part") for name in names))
    for name in FORMATS:
        for path in glob.glob(directory + "/*" + ENDS.get(name, "_results." + name)):
            if name == "html":
                with open(path, encoding="utf-8") as page:
                    checks.true("%s: the page is whole" % what, page.read().rstrip().endswith("</html>"))
                continue
            try:
                ids = ids_of(name, path) or []
            except Exception as error:  # pylint: disable=broad-except
                checks.true("%s, %s: can be read: %r, %d bytes" % (what, name, error, os.path.getsize(path)), False)
                continue
            checks.true("%s, %s: each launch once: %r" % (what, name, ids),
                        len(set(ids)) == len(ids) and set(ids) <= set(range(1, LAUNCHES + 1)))


def numbers(step, first):
    number = 1
    while True:
        yield number
        number += 1 if number < first else step


def check_way(checks, arguments, options, step, first):
    for number in numbers(step, first):
        with tempfile.TemporaryDirectory() as directory:
            status, said = run_killed(*arguments, options, directory, number)
            what = "%s, killed before operation %d (%s)" % (" ".join(options), number, said)
            check_files(checks, what, directory)
            if status != -signal.SIGKILL:
                checks.equal("%s: not killed: status" % what, status, 0)
                return number


def main():
    arguments = sys.argv[1:4]
    step, first = (int(word) for word in (sys.argv[4:] + ["1", "1"])[:2])
    checks = Checks()
    for options in (["-f", ",".join(FORMATS)], ["-f", "json"]):
        last = check_way(checks, arguments, options, step, first)
        print("%s: %d operations" % (" ".join(options), last - 1))
    checks.exit()


if __name__ == "__main__":
    main()
