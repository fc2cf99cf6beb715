"""Groups of counters under --replay-mode kernel, as crocprof tells its tool library of them: each launch has all
groups, or as many as it had passes, and those that had fewer are counted.

    groups_test.py TOOL-LIBRARY PROGRAM RUN...: RUN starts the program on the software GPU; page_faults beside it, too.
"""
import collections
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from checks import Checks  # noqa: E402

GROUPS = [["SQ_WAVES", "SQ_INSTS_VALU"], ["TCC_HIT", "TCC_MISS"], ["SQ_INSTS_SALU"]]
ALL = sorted(name for group in GROUPS for name in group)
SHARED = 8  # launches that write pinned or managed memory


def run(library, program, starter, directory, **more):
    preloaded = [p for p in (os.environ.get("LD_PRELOAD"), library) if p]
    variables = {"LD_PRELOAD": ":".join(preloaded), "CROCPROF_REPLAY_MODE": "kernel",
                 "ROCPROF_COUNTER_GROUPS": "\n".join("pmc: " + " ".join(g) for g in GROUPS),
                 "ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_OUTPUT_FORMAT": "csv",
                 "ROCPROF_OUTPUT_PATH": directory, "ROCPROF_OUTPUT_FILE_NAME": "%pid%"}
    done = subprocess.run([*starter, program], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, **variables, **more))
    counters = collections.defaultdict(list)
    for path in glob.glob(os.path.join(directory, "*_counter_collection.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                counters[int(row["Dispatch_Id"])].append(row["Counter_Name"])
    return done, counters


def page_faults_reach_all_memory(checks, library, program, starter):
    """What a kernel writes is not known then: one pass each, and it is said."""
    with tempfile.TemporaryDirectory() as directory:
        done, counters = run(library, program, starter, directory, HSA_XNACK="1")
    checks.equal("status with page faults " + done.stderr, done.returncode, 0)
    checks.true("the program's own check: " + done.stdout, "page_faults: ok" in done.stdout)
    whole = [sorted(group) for group in GROUPS]
    checks.true(f"one group each: {dict(counters)}",
                len(counters) >= 15 and all(sorted(names) in whole for names in counters.values()))
    checks.true("told: " + done.stderr, "it may write memory that is not known" in done.stderr)


def main():
    library, program, *starter = sys.argv[1:]
    checks = Checks()
    with tempfile.TemporaryDirectory() as directory:
        done, counters = run(library, program, starter, directory)
    checks.equal("status " + done.stderr, done.returncode, 0)
    checks.true("the program's own check: " + done.stdout, "replayed: ok" in done.stdout)
    checks.true(f"launches: {len(counters)}", len(counters) >= 30)
    fewer = {d: names for d, names in counters.items() if sorted(names) != ALL}
    for dispatch, names in fewer.items():
        whole = [set(group) <= set(names) for group in GROUPS]
        checks.equal(f"dispatch {dispatch} has whole groups",
                     sorted(names), sorted(n for group, has in zip(GROUPS, whole) if has for n in group))
    checks.true(f"launches that write what the host uses: {len(fewer)}", len(fewer) >= SHARED)
    checks.true("most have all groups", len(counters) - len(fewer) >= 16)
    told = re.search(r"(\d+) of (\d+) launches had fewer passes", done.stderr)
    checks.true("told: " + done.stderr, told and [int(n) for n in told.groups()] == [len(fewer), len(counters)])
    page_faults_reach_all_memory(checks, library, os.path.join(os.path.dirname(program), "page_faults"), starter)
    checks.exit()


if __name__ == "__main__":
    main()
