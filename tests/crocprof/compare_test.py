"""diff and check: waves of a kernel follow from its geometry, so that what changes between two runs is known.

    compare_test.py CROCPROF PROGRAMS
"""
import contextlib
import csv
import glob
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from crocprof_run import Checks

COUNTERS = "SQ_WAVES,SQ_INSTS_VALU,GRBM_COUNT,SDMA_SEM_IDLE"
TOUCH = "touch(unsigned int*)"


class Comparison:
    def __init__(self, crocprof, checks, directory, programs):
        self.crocprof, self.checks, self.directory = crocprof, checks, directory
        self.geometry = os.path.join(programs, "geometry")
        self.temporary = os.path.join(directory, "tmp")
        os.mkdir(self.temporary)

    def record(self, name, *launches):
        path = os.path.join(self.directory, name)
        subprocess.run([self.crocprof, "-d", path, "-f", "rocpd", "--no-summary", "--pmc", COUNTERS, "--", self.geometry,
                        *launches], capture_output=True, timeout=120, check=True)
        return path

    def run(self, *words, status=0):
        result = subprocess.run([self.crocprof, *words], capture_output=True, text=True, timeout=120, cwd=self.directory,
                                env=dict(os.environ, TMPDIR=self.temporary))
        self.checks.equal("status of %r (%s)" % (words, result.stderr), result.returncode, status)
        return result.stdout, result.stderr

    def modelled(self, recording):
        """(launches, mean) of the kernel's modelled time, as its rows have it."""
        path, = glob.glob(os.path.join(recording, "**", "*.db"), recursive=True)
        with contextlib.closing(sqlite3.connect(path)) as base:
            times = [row[0] for row in base.execute(
                "SELECT json_extract(d.extdata, '$.modelled_ns') FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k "
                "ON k.id = d.kernel_id WHERE k.display_name = ?", (TOUCH,))]
        return len(times), sum(times) / len(times)


def check_diff(checks, c, base, same, more):
    rows = [row for row in csv.DictReader(io.StringIO(c.run("diff", "-f", "csv", "--all", base, more)[0]))
            if row["counter"] == "SQ_WAVES" and row["name"] == TOUCH]
    checks.equal("waves: 4 groups of one wave became 5", [(r["n"], r["n'"], r["before"], r["after"], r["change %"]) for r in rows],
                 [("3", "3", "4", "5", "25")])
    checks.equal("which are no chance: no launch differs", [(r["p"], r["verdict"]) for r in rows], [("0", "**")])
    checks.true("equal counters are not shown", "SQ_WAVES" not in c.run("diff", base, same)[0])
    c.run("diff", base, same, "--fail-if", "SQ_WAVES!=0", "--fail-if", "SQ_INSTS_VALU>+0%", "--fail-if", "calls!=0")
    for condition, status in (("SQ_WAVES>+24%", 1), ("SQ_WAVES>+25%", 0), ("SQ_WAVES>+0.5", 1), ("SQ_WAVES<-1%", 0),
                              ("touch(unsigned int*):SQ_WAVES!=0", 1), ("rocclr:SQ_WAVES!=0", 0), ("calls>0", 0)):
        said = c.run("diff", base, more, "--fail-if", condition, status=status)[1]
        checks.true("what failed: %r" % said, status == 0 or (condition in said and "4 became 5" in said))
    c.run("diff", more, base, "--fail-if", "SQ_WAVES<-19%", status=1)
    for condition in ("SQ_WAVES", "SQ_WAVES>", "SQ_WAVES>1x", ">1%", "SQ_WAVESS>1%"):
        checks.true("one line: " + condition, c.run("diff", base, more, "--fail-if", condition, status=2)[1].count("--fail-if: ") == 1)
    c.run("diff", base, status=2)
    c.run("diff", base, "nothing", status=2)
    c.run("diff", base, more, "--alpha", "2", status=2)


def check_baseline(checks, c, base, same, more, fewer):
    c.run("check", "--write", "base.json", base)
    path = os.path.join(c.directory, "base.json")
    with open(path, encoding="utf-8") as file:
        values = json.load(file)["values"]
    waves = [v for v in values if v["kernel"] == TOUCH and v["metric"] == "SQ_WAVES"]
    checks.equal("waves in the baseline", waves, [{"kernel": TOUCH, "metric": "SQ_WAVES", "launches": 3, "mean": 4, "percent": 0}])
    checks.true("cycles may move", all(v["percent"] == 10 for v in values if v["metric"] == "GRBM_COUNT"))
    checks.true("what is not counted is no part of it", all(v["metric"] != "SDMA_SEM_IDLE" for v in values))
    c.run("check", "--baseline", "base.json", same)
    checks.true("another run differs", "must be equal" in c.run("check", "--baseline", "base.json", more, status=1)[0])
    checks.true("and launches", "other number of launches" in c.run("check", "-b", "base.json", fewer, status=1)[0])
    out, _ = c.run("check", "-b", "base.json", more, "--junit", "j.xml", "-f", "json", status=1)
    suite = xml.parse(os.path.join(c.directory, "j.xml")).getroot()
    wrong = [case for case in suite if case.find("failure") is not None]
    checks.equal("JUnit's counts", (int(suite.get("tests")), int(suite.get("failures"))), (len(values), len(wrong)))
    checks.equal("JUnit says as much as the table", len(wrong), len(json.loads(out)))
    checks.true("waves in it", [case.get("classname") for case in wrong if case.get("name") == "SQ_WAVES"] == [TOUCH])
    c.run("check", "-b", "base.json", more, "-t", "*=25")
    c.run("check", "-b", "base.json", more, "-t", "sq_*=24.9", "-t", "GRBM*=100", status=1)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"crocprof_baseline": 1, "values": [dict(waves[0], percent=25)]}, file)
    checks.true("edited", "0 of 1 values differ" in c.run("check", "-b", "base.json", more)[1])


def check_odd_values(checks, c, base):
    """A recording agrees with its own baseline, whatever its kernels are called and its counters are."""
    odd = os.path.join(c.directory, "odd.db")
    path, = glob.glob(os.path.join(base, "**", "*.db"), recursive=True)
    shutil.copy(path, odd)
    with contextlib.closing(sqlite3.connect(odd)) as database, database:
        tables = {name: table for table in (row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
                  for name in ("rocpd_info_kernel_symbol", "rocpd_pmc_event") if table.startswith(name)}
        database.execute('UPDATE "%s" SET display_name = CAST(x\'6bff41\' AS TEXT)' % tables["rocpd_info_kernel_symbol"])
        database.execute('UPDATE "%s" SET value = 9e999' % tables["rocpd_pmc_event"])
    c.run("check", "-w", "odd.json", odd)
    with open(os.path.join(c.directory, "odd.json"), encoding="utf-8") as file:
        checks.true("infinite", float("inf") in [v["mean"] for v in json.load(file)["values"]])
    c.run("check", "-b", "odd.json", odd, "--junit", "odd.xml")
    xml.parse(os.path.join(c.directory, "odd.xml"))
    c.run("check", "-w", "odd.json", "--time", "nan", odd, status=2)


def check_modelled(checks, c, base, same):
    """Modelled times are held like counters, with a tolerance."""
    path = os.path.join(c.directory, "modelled.json")
    c.run("check", "--write", path, base)
    with open(path, encoding="utf-8") as file:
        values = [v for v in json.load(file)["values"] if v["kernel"] == TOUCH and v["metric"] == "modelled"]
    launches, mean = c.modelled(base)
    checks.equal("modelled time in the baseline", values,
                 [{"kernel": TOUCH, "metric": "modelled", "launches": launches, "mean": mean, "percent": 2}])
    for percent, words, status in ((1.5, [], 0), (-1.5, [], 0), (3, [], 1), (-3, [], 1), (3, ["-t", "modelled=4"], 0),
                                   (1.5, ["-t", "mod*=1"], 1)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"crocprof_baseline": 1, "values": [dict(values[0], mean=mean * (1 + percent / 100))]}, file)
        said = c.run("check", "-b", path, *words, same, status=status)
        checks.true("off by %g %%: %s" % (percent, said), status == 0 or "beyond its tolerance" in said[0])
    c.run("check", "-b", path, "-t", "modelled=5", "--", c.geometry, "4x64", "4x64", "4x64")


def check_program(checks, c, base):
    """A program behind -- instead of a recording: with the counters that the other side has."""
    c.run("check", "--write", "p.json", "--pmc", "SQ_WAVES,SQ_INSTS_VALU", "--pmc", "GRBM_COUNT", "--", c.geometry, "4x64", "4x64")
    with open(os.path.join(c.directory, "p.json"), encoding="utf-8") as file:
        values = json.load(file)["values"]
    checks.equal("counters that were asked for", {v["metric"] for v in values} - {"modelled"}, {"SQ_WAVES", "SQ_INSTS_VALU", "GRBM_COUNT"})
    checks.equal("launches", {v["launches"] for v in values if v["kernel"] == TOUCH}, {2})
    c.run("check", "-b", "p.json", "-t", "GRBM_COUNT=1000", "--", c.geometry, "4x64", "4x64")
    said = c.run("check", "-b", "p.json", "-t", "GRBM_COUNT=1000", "--", c.geometry, "5x64", "5x64", status=1)[0]
    checks.true("it differs: " + said, "must be equal" in said)
    out, _ = c.run("diff", "-f", "csv", "--all", base, "--", c.geometry, "5x64", "5x64", "5x64")
    rows = [row for row in csv.DictReader(io.StringIO(out[out.index('"kind"'):])) if row["counter"] == "SQ_WAVES" and row["name"] == TOUCH]
    checks.equal("diff with a program", [(r["before"], r["after"]) for r in rows], [("4", "5")])
    c.run("diff", base, "--fail-if", "SQ_WAVES>+1%", "--", c.geometry, "5x64", "5x64", "5x64", status=1)
    for words, says in ((["check", "-b", "p.json", "--", "false"], "ended with status 1: nothing is compared"),
                        (["check", "-b", "p.json", "--", "sh", "-c", "kill -9 $$"], "ended by signal 9"),
                        (["check", "-b", "p.json", base, "--", c.geometry], "one recording, or a program"),
                        (["diff", base, base, "--", c.geometry], "two recordings, or one and a program"),
                        (["check", "-b", "p.json", "--", "no-such-program"], "no-such-program")):
        checks.true("%r says %r" % (words, says), says in c.run(*words, status=2)[1])
    temporary = glob.glob(os.path.join(c.temporary, "*"))
    checks.equal("nothing is left", temporary, [])


def check_mistakes(checks, c, base):
    plain = os.path.join(c.directory, "plain")
    subprocess.run([c.crocprof, "-d", plain, "-f", "rocpd", "--no-summary", "--hip-trace", "--kernel-trace=no", "--", c.geometry, "1x64"], capture_output=True, timeout=120,
                   check=True)
    with open(os.path.join(c.directory, "bad.json"), "w", encoding="utf-8") as file:
        file.write("{\"values\": [")
    for words, says in ((["check", base], "one of --baseline and --write"),
                        (["check", "-b", "bad.json", base], "bad.json: no baseline"),
                        (["check", "-b", "none.json", base], "none.json: No such file"),
                        (["check", "-w", "/proc/x", base], "/proc/x: "),
                        (["check", "-w", "/dev/full", "-t", "x", base], "no PATTERN=PERCENT"),
                        (["check", "-w", "w.json", "plain"], "no kernel has counters or a modelled time")):
        _, said = c.run(*words, status=2)
        checks.true("%r says %r: %r" % (words, says, said), says in said and said.count("crocprof: ") == 1)
    checks.true("nothing is left of it", not os.path.exists(os.path.join(c.directory, "w.json")))


def main():
    checks = Checks()
    directory = tempfile.mkdtemp()
    try:
        c = Comparison(os.path.abspath(sys.argv[1]), checks, directory, os.path.abspath(sys.argv[2]))
        base, same = (c.record(name, "4x64", "4x64", "4x64") for name in ("base", "same"))
        more = c.record("more", "5x64", "5x64", "5x64")
        fewer = c.record("fewer", "4x64", "4x64")
        check_diff(checks, c, base, same, more)
        check_baseline(checks, c, base, same, more, fewer)
        check_odd_values(checks, c, base)
        check_modelled(checks, c, base, same)
        check_program(checks, c, base)
        check_mistakes(checks, c, base)
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
