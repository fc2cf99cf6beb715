"""Each format, however the program or its files end: a table of ways, with what each may leave.

    each_end_test.py CROCPROF PROGRAMS FULL_DISK all|each

"all": every way with all formats at once, every third one also in two passes, which count. "each": with each format
alone, too, and everything in one pass and in two (make soak).
"""
import collections
import glob
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

from crocprof_run import Checks
from killed_test import ENDS, FORMATS, ROWS_END, ids_of

LAUNCHES, COPIES, STATUS = 37, 5, 23
COUNTERS = ["SQ_WAVES", "SQ_INSTS_VALU"]
WAVES = 64  # of a launch: 4096 work-items

# `word` is how `endings` ends, `setup` is put before it by a shell ("$@" is the program), `says` what has to be
# said, `is_whole`: everything is in the files.
Way = collections.namedtuple("Way", "word status setup says is_whole", defaults=(STATUS, 'exec "$@"', None, True))
ENDS_BY_SIGNAL = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGUSR1", "SIGSEGV",
                  "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGSYS"]
WAYS = {word: Way(word) for word in ("return", "exit", "_exit", "quick_exit", "thread", "thread_exit")}
WAYS.update({name: Way(str(int(getattr(signal, name))), -int(getattr(signal, name))) for name in ENDS_BY_SIGNAL})
WAYS.update({
    "crash": Way("crash", -signal.SIGSEGV),
    "all files closed": Way("return", setup='exec 1>&- 2>&- "$@"'),
    "no standard input": Way("return", setup='exec 0<&- "$@"'),
    "size limit": Way("size_limit", says="File (is )?too large", is_whole=False),
    "few files": Way("return", setup='ulimit -n 40; exec "$@"', is_whole=False),
    "full disk": Way("return", setup='LD_PRELOAD="$LD_PRELOAD:$FULL_DISK_LIBRARY" exec "$@"', says="No space left on device|disk is full",
                     is_whole=False),
    "other folder": Way("return", setup='cd /; umask 077; exec "$@"'),
    "other locale": Way("return", setup='LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Kathmandu exec "$@"'),
})


def run_way(crocprof, programs, library, way, formats, options, directory):
    environment = dict(os.environ, FULL_DISK=directory + "/", FULL_DISK_LIBRARY=library)
    command = [crocprof, "--no-summary", "-f", ",".join(formats), *options, "-d", directory, "--", "sh", "-c", way.setup,
               "sh", os.path.join(programs, "endings"), str(LAUNCHES), str(COPIES), way.word]
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=120, stdin=subprocess.DEVNULL)


def values_of(name, path):
    """{counter: its values} that a file has; None: it is looked at elsewhere."""
    values = collections.defaultdict(list)
    if name == "json":
        with open(path, encoding="utf-8") as file:
            data = json.load(file)["rocprofiler-sdk-tool"][0]
        names = {counter["id"]["handle"]: counter["name"] for counter in data["counters"]}
        for record in data["callback_records"]["counter_collection"]:
            for value in record["records"]:
                values[names[value["counter_id"]["handle"]]].append(value["value"])
    elif name == "rocpd":
        with sqlite3.connect(path) as database:
            for counter, value in database.execute("SELECT counter_name, value FROM counters_collection"):
                values[counter].append(value)
    else:
        return None
    return dict(values)


def check_whole(checks, what, name, path, is_counted):
    if not is_counted:
        ids = ids_of(name, path)
        if ids is not None:
            checks.equal("%s: launches" % what, sorted(ids), list(range(1, LAUNCHES + 1)))
        return
    values = values_of(name, path)
    if values is not None:
        checks.equal("%s: counters" % what, sorted(values), sorted(COUNTERS))
        checks.equal("%s: waves" % what, values.get("SQ_WAVES"), [WAVES] * LAUNCHES)


def check_files(checks, what, directory, formats, way, is_counted):
    names = sorted(os.listdir(directory))
    checks.true("%s: nothing of the making is left: %r" % (what, names),
                not any(name.endswith((ROWS_END, ".part", "-journal", "-wal")) for name in names))
    for name in formats:
        end = "_counter_collection.csv" if name == "csv" and is_counted else ENDS.get(name, "_results." + name)
        paths = glob.glob(directory + "/*" + end)
        if way.is_whole:
            checks.equal("%s, %s: one file" % (what, name), len(paths), 1)
        for path in paths:
            if way.is_whole:
                check_whole(checks, "%s, %s" % (what, name), name, path, is_counted)
    if way.is_whole and "html" in formats:
        with open(glob.glob(directory + "/*_results.html")[0], encoding="utf-8") as page:
            checks.true("%s: the page is whole" % what, page.read().rstrip().endswith("</html>"))


def check_way(checks, arguments, name, formats, is_counted):
    way = WAYS[name]
    for options in [[]] + ([["-e", COUNTERS[0], "-e", COUNTERS[1]]] if is_counted else []):
        with tempfile.TemporaryDirectory() as directory:
            done = run_way(*arguments, way, formats, options, directory)
            what = "%s, %s%s" % (name, ",".join(formats), ", counted" if options else "")
            checks.equal("%s: status (%s)" % (what, done.stderr), done.returncode, way.status)
            checks.true("%s: said: %s" % (what, done.stderr), not way.says or re.search(way.says, done.stderr))
            check_files(checks, what, directory, formats, way, bool(options))


def main():
    arguments, is_each = sys.argv[1:4], sys.argv[4] == "each"
    checks = Checks()
    for number, name in enumerate(WAYS):
        for formats in [FORMATS] + ([[one] for one in FORMATS] if is_each else []):
            check_way(checks, arguments, name, formats, is_each or number % 3 == 0)
    checks.exit()


if __name__ == "__main__":
    main()
