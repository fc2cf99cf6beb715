"""rocprofv3's habits: jobs, keys in names, filters, periods, regions, names of kernels, and the tool library alone.

    options_test.py CROCPROF PROGRAMS
"""
import csv
import glob
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile

from crocprof_run import Checks, Profile

BIN = LIB = PROGRAM = ""
EXTRA = """rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: TWICE_THE_WAVES
      description: two for each
      properties: []
      definitions:
        - {architectures: [gfx9, gfx90a], expression: "reduce(SQ_WAVES,sum)*2"}
"""
checks = Checks()


def kernels(profile, table="kernel_trace"):
    return [r["Kernel_Name"] for r in profile.rows(table) if "fill" not in r["Kernel_Name"]]


def check_kernels(what, options, names):
    with Profile(BIN + "/crocprof", options, [PROGRAM]) as p:
        checks.equal("%s: status" % what, p.status, 0)
        checks.equal(what, kernels(p), names)


def check_names():
    one = "add_one(unsigned int*)"
    check_kernels("all", ["--no-marker-trace"], 10 * [one])
    check_kernels("all but those of a pause", [], 7 * [one])
    check_kernels("mangled", ["-M"], 7 * ["_Z7add_onePj.kd"])  # the symbol is the kernel's descriptor
    check_kernels("mangled and truncated", ["-M", "-T"], 7 * ["add_one"])
    check_kernels("renamed, which has no symbol", ["-M", "--kernel-rename", "--no-marker-trace"],
                  6 * ["_Z7add_onePj.kd"] + 3 * ["inner"] + ["outer"])
    check_kernels("truncated", ["-T"], 7 * ["add_one"])
    check_kernels("regions", ["--selected-regions"], 6 * [one])
    check_kernels("regions renamed", ["--selected-regions", "--kernel-rename"], 2 * [one] + 3 * ["inner"] + ["outer"])
    check_kernels("renamed", ["--kernel-rename", "--no-marker-trace"], 6 * [one] + 3 * ["inner"] + ["outer"])
    check_kernels("a period that lasts", ["-P", "0:3600:1"], 10 * [one])
    check_kernels("a period that is not reached", ["-P", "3600:1:1"], [])


def check_pause():
    """What pauses and resumes is a row in every format; a range that was pushed in a pause is none."""
    with Profile(BIN + "/crocprof", ["-f", "csv,json,rocpd"], [PROGRAM]) as p:
        wanted = [("MARKER_CONTROL_API", "roctxProfilerPause")] + 2 * [("MARKER_CONTROL_API", "roctxProfilerResume")] + \
            [("MARKER_CORE_API", "inner"), ("MARKER_CORE_API", "outer")]
        checks.equal("rows", sorted((r["Domain"], r["Function"]) for r in p.rows("marker_api_trace")), wanted)
        with open(glob.glob(p.directory + "/*_results.json")[0], encoding="utf-8") as file:
            tool = json.load(file)["rocprofiler-sdk-tool"]
        tool = tool[0] if isinstance(tool, list) else tool
        kinds = tool["strings"]["buffer_records"]
        seen = sorted(kinds[m["kind"]]["operations"][m["operation"]] for m in tool["buffer_records"]["marker_api"])
        checks.equal("JSON", seen, [name for _, name in wanted[:3]] + 2 * ["roctxThreadRangeA"])
        with sqlite3.connect(glob.glob(p.directory + "/*.db")[0]) as base:
            found = base.execute("SELECT category, name FROM regions WHERE category LIKE 'MARKER_CONTROL%' ORDER BY name").fetchall()
        checks.equal("rocpd", found, wanted[:3])


def check_locale():
    """A program in German: files and tables have points in their numbers all the same."""
    with tempfile.TemporaryDirectory() as d:
        if subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", d + "/de_DE.UTF-8"], check=False).returncode != 0:
            print("no locale can be made here")
            return
        done = run([BIN + "/crocprof", "-e", "VALUUtilization", "-f", "csv,json,html", "--stats", "-o", "n", PROGRAM], d,
                   {"LOCPATH": d, "LC_ALL": "de_DE.UTF-8"})
        checks.true("the program has commas", "a half: 0,5" in done.stdout)
        checks.equal("numbers of tables", re.findall(r"[0-9],[0-9]", done.stderr), [])
        with open(d + "/n_counter_collection.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        fills = {r["Counter_Value"] for r in rows if "fill" in r["Kernel_Name"]}
        checks.true("a value in CSV: %r" % fills, fills and all(re.fullmatch(r"[0-9]+\.[0-9]+", f) for f in fills))
        with open(d + "/n_results.json", encoding="utf-8") as file:
            json.load(file)


def counted(options):
    with Profile(BIN + "/crocprof", options, [PROGRAM]) as p:
        checks.equal("%s: status" % options, p.status, 0)
        rows = [r for r in p.rows("counter_collection") if "fill" not in r["Kernel_Name"]]
        return [(r["Counter_Name"], float(r["Counter_Value"])) for r in rows]


def check_forks():
    """Children forked while a thread starts and stops collecting every few microseconds end as they would."""
    other = os.path.join(os.path.dirname(PROGRAM), "fork_child")
    for _ in range(5):
        with Profile(BIN + "/crocprof", ["-P", "0:5:0", "--collection-period-unit", "usec", "--no-summary"], [other]) as p:
            checks.equal("forks between periods: %s" % p.stderr, p.status, 0)


def check_counters():
    waves = ("SQ_WAVES", 1.0)
    checks.equal("launches", counted(["--pmc", "SQ_WAVES", "--kernel-iteration-range", "[2,4-5]"]), 3 * [waves])
    checks.equal("excluded", counted(["--pmc", "SQ_WAVES", "--kernel-exclude-regex", "^add"]), [])
    checks.equal("included", counted(["--pmc", "SQ_WAVES", "--kernel-include-regex", "one\\(", "--kernel-iteration-range",
                                      "1"]), [waves])
    both = counted(["--pmc", "SQ_WAVES", "--pmc", "GRBM_COUNT"])
    checks.equal("two lines of counters", sorted({name for name, _ in both}), ["GRBM_COUNT", "SQ_WAVES"])
    checks.equal("values of two lines", len(both), 14)
    with tempfile.TemporaryDirectory() as d:
        path = write(d, "extra.yaml", EXTRA)
        checks.equal("a counter of the user's", counted(["-E", path, "--pmc", "TWICE_THE_WAVES"]), 7 * [("TWICE_THE_WAVES", 2.0)])


def run(command, directory, environment=None):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(environment or {})})
    checks.equal("%s: status (%s)" % (command[1:3], done.stderr), done.returncode, 0)
    return done


def files(directory):
    found = [os.path.relpath(p, directory) for p in glob.glob(directory + "/**/*.csv", recursive=True)]
    return sorted(f for f in found if "agent_info" not in f)


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check_jobs():
    with tempfile.TemporaryDirectory() as d:
        path = write(d, "jobs.yaml", "jobs:\n - {pmc: [SQ_WAVES], output_file: a}\n"
                                     " - {kernel_trace: true, output_format: [csv], output_file: b}\n"
                                     " - {pmc_groups: [[SQ_WAVES], [GRBM_COUNT]], pmc_group_interval: 2, output_file: c}\n")
        run([BIN + "/rocprofv3", "-i", path, "-d", "out", "-f", "csv", "--", PROGRAM], d)
        checks.equal("jobs' files", files(d), ["out/pass_1/a_counter_collection.csv", "out/pass_2/b_kernel_trace.csv",
                                               "out/pass_3/c_counter_collection.csv"])
        with open(os.path.join(d, "out/pass_3/c_counter_collection.csv"), newline="", encoding="utf-8") as file:
            turns = [row["Counter_Name"] for row in csv.DictReader(file)]
        checks.equal("groups take turns", turns, ["SQ_WAVES", "SQ_WAVES", "GRBM_COUNT", "GRBM_COUNT"] * 2 +
                     ["SQ_WAVES", "SQ_WAVES", "GRBM_COUNT"])
    with tempfile.TemporaryDirectory() as d:
        path = write(d, "in.txt", "pmc: SQ_WAVES\npmc: GRBM_COUNT # two\n")
        run([BIN + "/rocprofv3", "-i", path, "-o", "x", "--output-format", "csv", "--", PROGRAM], d)
        checks.equal("lines' files", files(d), ["pmc_1/x_counter_collection.csv", "pmc_2/x_counter_collection.csv"])
    with tempfile.TemporaryDirectory() as d:
        path = write(d, "one.json", '{"jobs": [{"kernel_trace": true, "output_format": ["CSV"], "output_file": "a"}]}')
        run([BIN + "/rocprofv3", "-i", path, "-d", "out", "--", PROGRAM], d)
        checks.equal("one job's files", files(d), ["out/a_kernel_trace.csv"])
    check_odd_files()
    check_nothing_counted()
    check_lists()


def check_odd_files():
    """What other systems and other tools write into input files."""
    job = "jobs:\n - pmc: [SQ_WAVES]\n   output_format: [csv]\n   output_file: a\n"
    cases = [("crlf.txt", "pmc: SQ_WAVES\r\npmc:\tGRBM_COUNT # two\r\n", 0, ""),
             ("v1.txt", "# of rocprof's\npmc: SQ_WAVES\nrange: 0:1\n", 0, "passed over, as it does not begin with pmc: range: 0:1"),
             ("null.yaml", job + "   kernel_trace: ~\n   stats:\n", 0, ""),
             ("both.yaml", job + "   pmc_groups: [[SQ_WAVES]]\n", 2, "pmc and pmc_groups in one job"),
             ("turns.yaml", "jobs:\n - pmc_groups: [[SQ_WAVES]]\n   pmc_group_interval: x\n", 2, "pmc_group_interval: x is no number"),
             ("name.yaml", "jobs:\n - pmc_groups: [[GRBM_COUNT], [SQ_WAVEZ]]\n", 2, "unknown counter SQ_WAVEZ on gfx90a (did you mean SQ_WAVES?)"),
             ("none.yaml", "jobs:\n - pmc_groups: []\n", 2, "pmc_groups: there is no group"),
             ("itself.yaml", job + "   input: itself.yaml\n", 2, "a job has no input file of its own")]
    for name, text, status, sentence in cases:
        with tempfile.TemporaryDirectory() as d:
            done = subprocess.run([BIN + "/rocprofv3", "-i", write(d, name, text), "-f", "csv", "--", PROGRAM], cwd=d,
                                  capture_output=True, text=True, timeout=60, check=False)
            checks.equal("%s: %s" % (name, done.stderr), (done.returncode, sentence in done.stderr, "passed over" in done.stderr),
                         (status, True, "passed over" in sentence))
            found = {name.split("/")[0] for name in files(d)}
            wanted = {"crlf.txt": {"pmc_1", "pmc_2"}, "v1.txt": {"pmc_1"}, "null.yaml": {"pass_1"}}
            checks.equal(name + ": files", found, wanted.get(name, set()))


def check_nothing_counted():
    """Filters that leave no launch are named; those that leave some are not."""
    for pattern, is_told in (("nosuch", True), ("one", False)):
        for options in ([], ["--no-kernel-trace", "--no-hip-trace", "--no-memory-copy-trace", "--no-marker-trace"]):
            with Profile(BIN + "/crocprof", ["--pmc", "SQ_WAVES", "--kernel-include-regex", pattern, *options], [PROGRAM]) as p:
                checks.equal("%s: %s" % (pattern, p.stderr), ("no counters: no kernel" in p.stderr, "nothing was collected" in p.stderr),
                             (is_told, False))


def check_lists():
    """-L prints what rocprofv3-avail does, or `crocprof list`, each time once, and then runs the program, if one is named."""
    head = "Counter_Name        :\tSQ_WAVES\n"
    info = subprocess.run([BIN + "/rocprofv3-avail", "info", "--pmc"], capture_output=True, text=True, timeout=60, check=True).stdout
    plain = subprocess.run([BIN + "/crocprof", "list"], capture_output=True, text=True, timeout=60, check=True).stdout
    with tempfile.TemporaryDirectory() as d:
        path = write(d, "list.json", '{"jobs": [{"list_avail": true}]}')
        checks.true("a job that lists", run([BIN + "/rocprofv3", "-i", path], d).stdout.startswith(info))
        path = write(d, "two.json", '{"jobs": [{"list_avail": true}, {"list_avail": true}]}')
        checks.equal("two jobs that list", run([BIN + "/rocprofv3", "-i", path], d).stdout.count(head), 2)
        checks.equal("no files", files(d), [])
        done = run([BIN + "/rocprofv3", "-L", "--kernel-trace", "-f", "csv", "-d", "out", "-o", "x", "--", PROGRAM], d)
        checks.equal("with a program: both", (done.stdout.startswith(info), done.stdout.count("regions: ok")), (True, 1))
        checks.true("its files", "out/x_kernel_trace.csv" in files(d))
        checks.equal("crocprof's form", run([BIN + "/crocprof", "-L"], d).stdout, plain)
        done = run([BIN + "/crocprof", "-L", "--no-summary", "--", PROGRAM], d)
        checks.equal("and then the program", done.stdout, plain + "regions: ok\n")
        extra = write(d, "e.yaml", "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n  - name: TWICE\n    description: two\n"
                                   "    properties: []\n    definitions:\n    - architectures: [gfx90a]\n"
                                   "      expression: reduce(SQ_WAVES,sum)*2\n")
        for words in (["rocprofv3"], ["crocprof"]):
            checks.true("%s: counters of -E" % words, "TWICE" in run([BIN + "/" + words[0], "-L", "-E", extra], d).stdout)


def check_paths():
    """Every path may have keys, and its directory is made; names may have any bytes."""
    host = socket.gethostname()
    crocprof = BIN + "/crocprof"
    with tempfile.TemporaryDirectory() as d:
        run([crocprof, "--summary-output-file", "a/%hostname%/s", "--", PROGRAM], d)
        run([crocprof, "--summary-output-file", "b/%pid%/s", "--", PROGRAM], d)
        run([crocprof, "stat", "-r", "1", "--json", "c/%h/j", "--", PROGRAM], d, {"X": "x"})
        extra = write(d, "extra_x.yaml", EXTRA)
        done = run([crocprof, "-f", "rocpd", "-d", "d\ne/%h", "-o", "%q{X}", "-E", extra.replace("_x", "_%env{X}%"), "--", PROGRAM], d,
                   {"X": "x"})
        checks.true("files are named: " + done.stderr, "d\ne/%s/x_*: results.db" % host in done.stderr)
        database = os.path.join("d\ne", host, "x_results.db")
        run([crocprof, "query", "--sql", "select 1", "-o", "f/%hostname%/q", database], d)
        run([crocprof, "check", "--write", "g/{hostname}/base", database], d)
        run([crocprof, "check", "--baseline", "g/%h/base", "--junit", "i/%h/j.xml", database], d)
        run([crocprof, "analyze", "--output", "k/%h/a", database], d)
        run([crocprof, "report", "--summary-output-file", "l/%h/r", database], d)
        done = subprocess.run([crocprof, "report", "--summary-output-file", "/dev/full", database], cwd=d, capture_output=True, text=True,
                              check=False)
        checks.equal("report to a full disk: " + done.stderr, (done.returncode, done.stderr.count("No space left")), (1, 1))
        run([crocprof, "report", "--summary-output-file", "/dev/null", database], d)  # no file that could be emptied
        for name in ("l/%s/r", "a/%s/s", "c/%s/j", "f/%s/q", "g/%s/base", "i/%s/j.xml", "k/%s/a"):
            checks.true(name, os.path.getsize(os.path.join(d, name % host)) > 0)
        checks.equal("a summary of each process", len(glob.glob(d + "/b/[0-9]*/s")), 1)
        done = subprocess.run([crocprof, "check", "--baseline", "g/%h/base", PROGRAM], cwd=d, capture_output=True, text=True, check=False)
        checks.equal("a program for a recording: " + done.stderr, (done.returncode, "a program goes behind --" in done.stderr), (2, True))


def check_places():
    host = socket.gethostname()
    with tempfile.TemporaryDirectory() as d:
        run([BIN + "/rocprofv3", "--kernel-trace", "-f", "csv", "--", PROGRAM], d)
        checks.equal("rocprofv3's place", [os.path.dirname(f) for f in files(d)], [host])
    with tempfile.TemporaryDirectory() as d:
        run([BIN + "/crocprof", "-f", "csv", "--no-summary", "--stats", "-d", "a/%hostname%", "-o", "%tag%/n_%rank%_%env{X_Y}%",
             "--no-hip-trace", "--no-marker-trace", "--no-memory-copy-trace", PROGRAM], d, {"X_Y": "z"})
        checks.equal("keys", files(d), ["a/%s/regions/n_0_z_%s.csv" % (host, kind)
                                        for kind in ("domain_stats", "kernel_stats", "kernel_trace", "modelled_time")])
    agents = {"absolute": "Agent 1", "relative": "Agent 1", "type-relative": "GPU 0"}
    for index, name in agents.items():
        with Profile(BIN + "/crocprof", ["-A", index], [PROGRAM]) as p:
            checks.equal("agent index %s" % index, {r["Agent_Id"] for r in p.rows("kernel_trace")}, {name})


def check_library():
    """As programs use it that preload it by themselves: only variables, only what they say."""
    tool = LIB + "/rocprofiler-sdk/librocprofiler-sdk-tool.so"
    with tempfile.TemporaryDirectory() as d:
        run([BIN + "/crocgpu", PROGRAM], d, {
            "LD_PRELOAD": tool, "ROCPROF_KERNEL_TRACE": "1", "ROCPROF_OUTPUT_FORMAT": "csv",
            "ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": "pmc: SQ_WAVES GRBM_COUNT",
            "ROCPROF_OUTPUT_PATH": d + "/out/pmc_1", "ROCPROF_KERNEL_FILTER_RANGE": "[1,4-7]"})
        paths = files(d)
        checks.equal("library alone: files", [os.path.dirname(f) for f in paths],
                     2 * ["out/pmc_1/" + socket.gethostname()])
        with open(os.path.join(d, paths[0]), newline="", encoding="utf-8") as file:
            rows = [r for r in csv.DictReader(file) if "fill" not in r["Kernel_Name"]]
        checks.equal("library alone: values", len(rows), 10)
    counters = {"LD_PRELOAD": tool, "ROCPROF_KERNEL_TRACE": "1", "ROCPROF_COUNTERS": "pmc: SQ_WAVES", "ROCPROF_OUTPUT_FORMAT": "csv"}
    for value, tables in (("0", {"kernel_trace"}), ("1", {"kernel_trace", "counter_collection"}), (None, {"kernel_trace", "counter_collection"})):
        with tempfile.TemporaryDirectory() as d:
            run([BIN + "/crocgpu", PROGRAM], d, {**counters, **({"ROCPROF_COUNTER_COLLECTION": value} if value else {})})
            checks.equal("counting is %s" % value, {re.sub(".*/[0-9]*_|.csv", "", f) for f in files(d)}, tables)
    wrong = {"ROCPROF_OUTPUT_FORMAT": "csv,cvs", "ROCPROF_AGENT_INDEX": "any", "ROCPROF_MINIMUM_OUTPUT_BYTES": "1k"}
    with tempfile.TemporaryDirectory() as d:
        lines = run([BIN + "/crocgpu", PROGRAM], d, {**counters, **wrong}).stderr.splitlines()
        for name in wrong:
            checks.equal("library alone: %s: %s" % (name, lines), sum(name + ": " in line for line in lines), 1)


def check_tables():
    def lines(options, pattern):
        with Profile(BIN + "/crocprof", options, [PROGRAM]) as p:
            return [line.split() for line in p.stderr.splitlines()
                    if pattern in line and not line.startswith("crocprof: files:")]
    each = lines([], "add_one")
    checks.equal("a table for each kind", [(words[0], words[-2]) for words in each], [("7", "add_one(unsigned")])
    both = lines(["--no-summary-per-domain", "-S", "-u", "nsec"], "add_one")
    checks.equal("one table", [(words[0], words[6]) for words in both], [("7", "KERNEL_DISPATCH")])
    checks.true("nanoseconds are whole", both and both[0][1].isdigit())
    groups = lines(["--no-summary", "--summary-groups", "KERNEL|COPY"], "hip")
    checks.equal("a group of kinds has no others", groups, [])
    checks.equal("a group of kinds", len(lines(["--no-summary", "--summary-groups", "KERNEL|COPY"], "add_one")), 1)


def check_small():
    with tempfile.TemporaryDirectory() as d:
        done = run([BIN + "/crocprof", "--minimum-output-data", "100", "--output-config", "-o", "small", PROGRAM], d)
        checks.true("no files, with a word: " + done.stderr, "no files of 1 process that recorded less" in done.stderr)
        done = run([BIN + "/crocprof", "--profile-mpi-ranks", "1-3", PROGRAM], d)
        checks.true("another rank: " + done.stderr, "rank 0 is none of --profile-mpi-ranks" in done.stderr)
        done = run([BIN + "/crocprof", "-P", "3600:1:1", PROGRAM], d)
        checks.true("nothing in the period: " + done.stderr, "while it was (--collection-period" in done.stderr)
        checks.equal("little data", os.listdir(d), [])
        run([BIN + "/crocprof", "-f", "csv,rocpd", "-f", "rocpd,sqlite", "-o", "twice", PROGRAM], d)
        checks.equal("a format asked for twice", sorted(f for f in os.listdir(d) if f.endswith(".db")), ["twice_results.db"])
        for name in os.listdir(d):
            os.remove(os.path.join(d, name))
        run([BIN + "/crocprof", "--minimum-output-data", "1", "--output-config", "-f", "csv", "-o", 'a"b', PROGRAM], d)
        with open(os.path.join(d, 'a"b_config.json'), encoding="utf-8") as file:
            checks.equal("options as a file", json.load(file)["ROCPROF_OUTPUT_FILE_NAME"], 'a"b')


def check_rest():
    with tempfile.TemporaryDirectory() as d:
        done = run([BIN + "/rocprofv3", "--echo", "--rocm-root", "/opt", "--", "sh", "-c", "exit 3"], d)
        checks.equal("echo", done.stdout, "sh -c exit 3\n")
        checks.true("what changes nothing is said", "--rocm-root changes nothing" in done.stderr)
        done = run([BIN + "/crocprof", "--log-level", "config", "-o", "n", "true"], d)
        checks.true("settings are shown", "ROCPROF_OUTPUT_FILE_NAME=n\n" in done.stderr)


def main():
    global BIN, LIB, PROGRAM
    BIN = os.path.dirname(sys.argv[1])
    LIB = os.path.join(os.path.dirname(BIN), "lib")
    PROGRAM = os.path.join(sys.argv[2], "regions")
    check_names()
    check_pause()
    check_locale()
    check_counters()
    check_forks()
    check_jobs()
    check_paths()
    check_places()
    check_library()
    check_tables()
    check_small()
    check_rest()
    checks.exit()


if __name__ == "__main__":
    main()
