"""What every output says of a device whose times and counters are not a GPU's: which device, what its times are, which counters it does
not count and which are approximations. Once as recorded, once converted.

    honest_test.py CROCPROF PROGRAMS TRACE_PROTO
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

from crocprof_run import Checks, Profile
from formats_test import Trace
from html_read import Page

NOT_COUNTED, APPROXIMATE, EXACT = "SDMA_SEM_IDLE", "CPF_CPF_STAT_BUSY", "SQ_WAVES"
TIMES = "wall time of a software GPU"
FORMATS = "csv,json,pftrace,rocpd,otf2,html"


def tables_check(checks, what, text):
    checks.true(what + ": the device: " + text, re.search(r"^device: agent 1, gfx90a, .* times are %s\)$" % TIMES, text, re.M))
    table = text[text.index("\ncounters: "):].splitlines()
    names = table[3].split()
    checks.equal(what + ": names", set(names[1:-1]), {NOT_COUNTED, "~" + APPROXIMATE, EXACT})
    for line in table[4:6]:
        values = dict(zip(names, line.split()))
        checks.true("%s: values %r" % (what, line), values[NOT_COUNTED] == "-" and int(values[EXACT]) > 0 and int(values["~" + APPROXIMATE]) > 0)
    checks.true(what + ": what the marks mean", "~ by the device's own word an approximation" in text and "- the device says that it does not" in text)
    kernels = next(line for line in text.splitlines() if line.endswith(" kernel"))
    checks.true(what + ": modelled times: " + kernels, kernels.split()[1] == "modelled")


def json_check(checks, what, path):
    with open(path, encoding="utf-8") as file:
        tool, = json.load(file)["rocprofiler-sdk-tool"]
    checks.equal(what + ": times of agents", [a.get("times") for a in tool["agents"]], [None, TIMES])
    said = {c["name"]: c["description"] for c in tool["counters"]}
    checks.true("%s: counters: %r" % (what, said), "not counted" in said[NOT_COUNTED] and "approximate" in said[APPROXIMATE]
                and "(this device" not in said[EXACT])
    checks.true(what + ": modelled times", all(k["modelled_ns"] > 0 for k in tool["buffer_records"]["kernel_dispatch"]))


def pftrace_check(checks, what, path, proto):
    trace = Trace(path, proto)
    labels = [t["labels"] for t in trace.tracks.values() if t.get("labels")]
    checks.true("%s: label %r" % (what, labels), len(labels) == 1 and re.fullmatch("agent 1, gfx90a, .*%s.*" % TIMES, labels[0][0]))
    units = {t["name"].split()[-1]: t["unit"] for t in trace.tracks.values() if " PMC " in (t["name"] or "")}
    checks.equal(what + ": units", units, {NOT_COUNTED: "(not counted by this device)", APPROXIMATE: "(approximate)", EXACT: None})


def otf2_check(checks, what, path):
    if not shutil.which("otf2-print"):
        return
    text = subprocess.run(["otf2-print", "-G", path], capture_output=True, text=True, timeout=60, check=True).stdout
    checks.true(what + ": the agent's group: " + text, '"gfx90a (agent 1), times are %s"' % TIMES in text)
    checks.true(what + ": counters", "(this device: not counted" in text and "(this device: approximate)" in text)


def html_check(checks, what, path):
    page = Page(path)
    checks.equal(what + ": times of agents", [a.get("Times") for a in page.pairs["agent"]], [None, TIMES])
    checks.equal(what + ": counters", sorted((q["counter"], q["class"]) for q in page.pairs["quality"]),
                 [(APPROXIMATE, "approximate"), (NOT_COUNTED, "not counted")])


def rocpd_check(checks, what, p):
    checks.equal(what + ": times of agents", p.query("SELECT json_extract(extdata, '$.times') FROM rocpd_info_agent ORDER BY type"),
                 [(None,), (TIMES,)])
    said = dict(p.query("SELECT name, description FROM rocpd_info_pmc"))
    checks.true("%s: counters: %r" % (what, said), "not counted" in said[NOT_COUNTED] and "approximate" in said[APPROXIMATE])


def files_check(checks, what, directory, proto):
    def path(kind):
        return glob.glob(os.path.join(directory, "*_results." + kind))[0]
    json_check(checks, what + ", json", path("json"))
    pftrace_check(checks, what + ", pftrace", path("pftrace"), proto)
    otf2_check(checks, what + ", otf2", path("otf2"))
    html_check(checks, what + ", html", path("html"))
    checks.equal(what + ": modelled times as CSV", len(glob.glob(os.path.join(directory, "*_modelled_time.csv"))), 1)


def main():
    crocprof, programs, proto = sys.argv[1:4]
    checks = Checks()
    with Profile(crocprof, ["-f", FORMATS, "--pmc", ",".join((NOT_COUNTED, APPROXIMATE, EXACT))],
                 [os.path.join(programs, "geometry"), "4x64"]) as p:
        tables_check(checks, "record", p.stderr)
        files_check(checks, "recorded", p.directory, proto)
        rocpd_check(checks, "rocpd", p)
        database, made = glob.glob(p.directory + "/*.db")[0], os.path.join(p.directory, "made")
        for words in (["report"], ["convert", "-f", FORMATS, "-d", made]):
            done = subprocess.run([crocprof, *words, database], capture_output=True, text=True, timeout=60, check=False)
            checks.equal("%s: %s" % (words, done.stderr), done.returncode, 0)
            if words == ["report"]:
                tables_check(checks, "report", done.stdout)
        files_check(checks, "converted", made, proto)
    checks.exit()


if __name__ == "__main__":
    main()
