"""--format html of real programs: the page shows what the CSV files of the same run say.

    program_test.py CROCPROF PROGRAMS
"""
import collections
import glob
import os
import sys

from browser import Browser, program_find

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "crocprof"))
from crocprof_run import Checks, Profile  # noqa: E402


def counted(rows, column):
    """Calls and total of each name."""
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        sums[row[column]][0] += 1
        sums[row[column]][1] += int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
    return dict(sums)


def shown(page, which, kind=None):
    test = "true" if kind is None else "s.kind === '%s'" % kind
    return {name: [count, total] for name, count, total in page.value(
        "croc.%s.filter((s) => %s).map((s) => [croc.texts[s.name], s.count, s.total])" % (which, test))}


def check_page(checks, browser, p):
    paths = glob.glob(os.path.join(p.directory, "*_results.html"))
    checks.equal("one page", len(paths), 1)
    page = browser.open(paths[0], 1200, 900)
    checks.equal("errors", page.errors() + [page.value("croc.error")], [None])
    checks.equal("nothing is fetched", page.requests(), [])
    checks.true("complete", page.value("croc.complete"))
    checks.equal("markers", shown(page, "calls", "marker"), counted(p.rows("marker_api_trace"), "Function"))
    checks.equal("calls", shown(page, "calls", "api"),
                 counted(p.rows("hip_api_trace") + p.rows("hsa_api_trace"), "Function"))
    checks.equal("copies", shown(page, "copies"), counted(p.rows("memory_copy_trace"), "Direction"))
    checks.equal("devices", page.value("croc.agents.map((a) => [a.Node_Id, a.Name])"),
                 [[r["Node_Id"], r["Name"]] for r in p.rows("agent_info")])
    return page


def check_traced(checks, browser, crocprof, command):
    with Profile(crocprof, ["--sys-trace", "--format", "csv,html"], command) as p:
        checks.equal("status", p.status, 0)
        page = check_page(checks, browser, p)
        checks.equal("kernels", shown(page, "kernels"), counted(p.rows("kernel_trace"), "Kernel_Name"))
        modelled = collections.defaultdict(int)
        for row in p.rows("modelled_time"):
            modelled[row["Kernel_Name"]] += int(row["Modelled_Duration_Ns"])
        got = page.value("croc.kernels.map((s) => [croc.texts[s.name], s.modelled])")
        checks.equal("modelled times of kernels", dict(got), dict(modelled))
        first = page.value("[...document.querySelectorAll('#kernels th')].map((th) => [th.textContent, th.getAttribute('aria-sort')])")
        checks.equal("rank them", first[1], ["Modelled", "descending"])
        checks.equal("records", page.value("croc.records"), sum(
            len(p.rows(t + "_trace")) for t in ("hip_api", "hsa_api", "marker_api", "kernel", "memory_copy",
                                                "memory_allocation", "scratch_memory")))


def check_counted(checks, browser, crocprof, command, options):
    """Dispatches that are only counted are on the timeline too, and those that are also traced once."""
    with Profile(crocprof, ["--pmc", "SQ_WAVES,SQ_INSTS_VALU", "--format", "csv,html", *options], command) as p:
        page = check_page(checks, browser, p)
        rows = p.rows("counter_collection")
        launches = {r["Dispatch_Id"]: r for r in rows}.values()
        checks.equal("kernels", {k: v[0] for k, v in shown(page, "kernels").items()},
                     {k: v[0] for k, v in counted(launches, "Kernel_Name").items()})
        sums = collections.defaultdict(float)
        for row in rows:
            sums[row["Kernel_Name"], row["Counter_Name"]] += float(row["Counter_Value"])
        got = page.value("croc.counted.flatMap((k) => [...k.values].map(([c, v]) => [croc.texts[k.name], croc.texts[c], v.sum]))")
        checks.equal("counters", {(k, c): v for k, c, v in got}, dict(sums))


def check_quality(checks, browser, crocprof, command):
    """A counter that the device does not count has no value, and an approximation is marked: in the table and in a kernel's details."""
    with Profile(crocprof, ["--pmc", "SDMA_SEM_IDLE,CPF_CPF_STAT_BUSY,SQ_WAVES", "--format", "csv,html"], command) as p:
        page = check_page(checks, browser, p)
        cells = "[...document.querySelectorAll('#counters %s')].map((c) => c.textContent)"
        names = page.value(cells % "th")
        checks.equal("names", sorted(names[2:]), ["SDMA_SEM_IDLE", "SQ_WAVES", "~CPF_CPF_STAT_BUSY"])
        values = dict(zip(names, page.value(cells % "tbody tr:first-child td")))
        checks.true("values: %r" % values, values["SDMA_SEM_IDLE"] == "-" and values["~CPF_CPF_STAT_BUSY"] not in ("-", "0"))
        notes = page.value("document.getElementById('counter_notes').textContent")
        checks.true("notes: " + notes, "approximation" in notes and "does not count" in notes)
        page.value("croc.search('touch')")
        page.value("croc.step(1)")
        page.frame()
        details = page.value("document.getElementById('details').textContent")
        checks.true("details: " + details, "SDMA_SEM_IDLE-" in details and "~CPF_CPF_STAT_BUSY" in details)


def check_analyzed(checks, browser, crocprof, command):
    """What the analysis says, on the page: a kernel whose LDS lets one wave be on a compute unit, and the only
    one that has floating point operations and memory counted is a point of the roofline."""
    counters = "GRBM_GUI_ACTIVE,SQ_WAVES,SQ_WAVE_CYCLES,SQ_BUSY_CU_CYCLES,SQ_WAIT_ANY,FETCH_SIZE,WRITE_SIZE," + ",".join(
        "SQ_INSTS_VALU_%s_%s" % (what, size) for what in ("ADD", "MUL", "FMA", "TRANS") for size in ("F16", "F32", "F64"))
    with Profile(crocprof, ["--pmc", counters, "--format", "csv,html"], command) as p:
        page = check_page(checks, browser, p)
        facts = [f for f in page.value("croc.facts") if "few_waves" in f["name"]]
        checks.equal("one kernel", len(facts), 1)
        checks.equal("its limit", (facts[0]["limit"], facts[0]["at_most"], facts[0]["most"]), ("lds", 1, 32))
        checks.true("and what bounds it", facts[0]["bound"].startswith("Bound by occupancy"))
        values = {r["Counter_Name"]: float(r["Counter_Value"]) for r in p.rows("counter_collection") if "few_waves" in r["Kernel_Name"]}
        flops = 64 * sum(v * (2 if "FMA" in name else 1) for name, v in values.items() if "_VALU_" in name)
        checks.equal("its operations", facts[0]["flops"], flops)
        checks.equal("points", page.value("croc.points.map((p) => p.name)"), [facts[0]["name"]])
        checks.equal("are drawn", page.value("document.querySelectorAll('#roofline circle').length"), 1)
        checks.true("at the right height", abs(page.value("croc.points[0].y") / (flops / (values["GRBM_GUI_ACTIVE"] / 1.7e9)) - 1) < 1e-6)


def main():
    if not program_find():
        print("there is no browser: chromium-headless-shell or chromium")
        return 77
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    with Browser() as browser:
        check_traced(checks, browser, crocprof, [os.path.join(programs, "markers")])
        check_traced(checks, browser, crocprof, [os.path.join(programs, "streams")])
        command = [os.path.join(programs, "markers")]
        check_counted(checks, browser, crocprof, command, [])
        check_counted(checks, browser, crocprof, command, ["--no-kernel-trace"])
        check_analyzed(checks, browser, crocprof, [os.path.join(programs, "bottlenecks"), "few_waves"])
        check_quality(checks, browser, crocprof, [os.path.join(programs, "geometry"), "4x64"])
    return checks.exit()


sys.exit(main())
