"""A page of many rows with hostile names: it shows what the CSV files of the same rows say, and is
zoomed, moved and searched with mouse, keys and fingers.

    rows_test.py HTML_ROWS
"""
import collections
import csv
import os
import subprocess
import sys
import tempfile

from browser import Browser, program_find

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from checks import Checks  # noqa: E402

ROWS = 100000
CUT = 16384 - 1  # bytes that are kept of a long name


def rows_read(prefix, table):
    csv.field_size_limit(1 << 20)
    with open(prefix + "_" + table + ".csv", newline="", encoding="utf-8", errors="replace") as file:
        return list(csv.DictReader(file))


def length(row):
    return int(row["End_Timestamp"]) - int(row["Start_Timestamp"])


def check_sums(checks, what, shown, rows, column):
    """Each name's calls, total, least and most."""
    wanted = collections.defaultdict(list)
    for row in rows:
        wanted[row[column][:CUT]].append(length(row))
    got = {s["name"][:CUT]: (s["count"], s["total"], s["low"], s["high"]) for s in shown}
    checks.equal(what, got, {name: (len(v), sum(v), min(v), max(v)) for name, v in wanted.items()})


def sums(page, which):
    return page.value("croc.%s.map((s) => ({name: croc.texts[s.name], count: s.count, total: s.total, low: s.low, high: s.high,"
                      " kind: s.kind}))" % which)


def check_content(checks, page, prefix):
    kernels, calls = rows_read(prefix, "kernel_trace"), rows_read(prefix, "hip_api_trace")
    markers, counters = rows_read(prefix, "marker_api_trace"), rows_read(prefix, "counter_collection")
    checks.equal("errors", page.errors() + [page.value("croc.error")], [None])
    checks.equal("nothing is fetched", page.requests(), [])
    checks.equal("no name was run", page.value("window.hacked === undefined"), True)
    checks.equal("complete", page.value("[croc.complete, croc.damaged]"), [True, 0])
    checks.equal("nothing to say", page.value("document.getElementById('status').hidden"), True)
    check_sums(checks, "kernels", sums(page, "kernels"), kernels, "Kernel_Name")
    shown = sums(page, "calls")
    check_sums(checks, "calls", [s for s in shown if s["kind"] == "api"], calls, "Function")
    check_sums(checks, "markers", [s for s in shown if s["kind"] == "marker"], markers, "Function")
    checks.equal("the first time, to the nanosecond", page.value("croc.first.toString()"), calls[0]["Start_Timestamp"])
    counted = page.value("croc.counted.map((k) => [croc.texts[k.name], [...k.values].map(([c, v]) => [croc.texts[c], v.sum])])")
    wanted = collections.defaultdict(list)
    for row in counters:
        wanted[row["Kernel_Name"]].append([row["Counter_Name"], float(row["Counter_Value"])])
    checks.equal("counters", dict(counted), wanted)
    checks.equal("memory", page.value("croc.memory.map((m) => [m.high, m.now, m.count])"), [[5 << 20, 1 << 20, 5]])
    tracks = collections.Counter("Thread " + r["Thread_Id"] for r in calls)
    tracks.update(r["Agent_Id"] + ", queue " + r["Queue_Id"] for r in kernels)
    tracks.update("Markers of thread " + r["Thread_Id"] for r in markers)
    tracks.update(("Allocations of thread 4242",) * 9)
    checks.equal("tracks", dict(page.value("croc.tracks.map((t) => [t.title, t.count])")), dict(tracks))
    checks.true("no lane has two at once", page.value(
        "croc.tracks.every((t) => t.lanes.every((l) => [...l.list].every((e, i) => !i ||"
        " croc.events.start[l.list[i - 1]] + croc.events.length[l.list[i - 1]] <= croc.events.start[e])))"))
    return kernels, calls


def check_tables(checks, page):
    """The table of kernels as it is shown, and sorted by another column."""
    cell = "[...document.querySelectorAll('#kernels tbody tr')].map((r) => r.children[%d].textContent)"
    totals = page.value("croc.kernels.map((k) => k.total).sort((a, b) => b - a).map((t) => (t / 1e6).toFixed(t >= 1e7 ? t >= 1e8 ? 0 : 1 : 2)"
                        " + '\\u202fms')")
    checks.equal("sorted by total", page.value(cell % 2), totals[:20])
    page.value("document.querySelectorAll('#kernels th button')[0].click()")
    names = page.value(cell % 0)
    checks.equal("sorted by name", names, page.value("%s.sort((a, b) => a.localeCompare(b))" % (cell % 0)))
    checks.equal("is said", page.value("document.querySelector('#kernels th').getAttribute('aria-sort')"), "ascending")
    checks.true("a name is a text", any(n.startswith("</script><script>") for n in names))


def span(page):
    return page.value("croc.view.t1 - croc.view.t0")


def check_view(checks, page):
    box = page.value("(() => { const b = document.getElementById('canvas').getBoundingClientRect();"
                     " return [b.left, b.top, b.width, b.height]; })()")
    x, y = round(box[0]) + 300, box[1] + 60  # a whole number, as events have
    under = "timeOf(%r)" % (x - box[0])
    whole, time = span(page), page.value(under)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-250, modifiers=2)
    page.wait("croc.view.t1 - croc.view.t0 < %f" % whole)
    checks.true("the wheel zooms by e", abs(whole / span(page) - 2.718281828) < 1e-6)
    checks.true("about the pointer", abs(page.value(under) - time) < whole * 1e-6)
    before = page.value("croc.view.t0")
    page.drag((x, y), (x + 100, y))
    checks.true("dragging moves", abs(before - page.value("croc.view.t0") - span(page) * 100 / box[2]) < span(page) * 1e-6)
    wide = span(page)
    page.drag((x, y), (x + 200, y), modifiers=8)
    checks.true("shift and dragging zooms", abs(span(page) - wide * 200 / box[2]) < wide * 1e-6)
    page.key("f")
    checks.true("everything", abs(span(page) - whole) < 1)
    page.key("w")
    checks.true("keys zoom", abs(whole / span(page) - 1.5) < 1e-6)
    for _ in range(60):
        page.key("w")
    checks.true("there is an end to it", abs(span(page) - 20) < 1e-3)
    page.value("croc.showAll()")
    page.frame()
    shapes = page.value("croc.drawn.shapes")
    checks.true("what is drawn depends on pixels, not on rows: %d" % shapes,
                0 < shapes < box[2] * 2 * page.value("croc.tracks.reduce((n, t) => n + t.lanes.length, 0)"))


def check_search(checks, page, kernels, calls):
    page.key("/")
    checks.equal("the slash leads to the search", page.value("document.activeElement.id"), "search")
    page.write("HIPFUNCTION7")
    wanted = [r for r in calls if "hipfunction7" in r["Function"].lower()]
    checks.equal("matches", page.value("croc.found.length"), len(wanted))
    checks.equal("is said", page.value("document.getElementById('found').textContent"),
                 f"{len(wanted):,}".replace(",", "\u202f") + " matches")
    page.key("Enter")
    page.key("Enter")
    first = int(calls[0]["Start_Timestamp"])
    second = sorted(wanted, key=lambda r: int(r["Start_Timestamp"]))[1]
    checks.equal("the second one is selected", page.value("croc.events.start[croc.view.selected]"),
                 int(second["Start_Timestamp"]) - first)
    checks.true("is in view", page.value("croc.view.t0 <= croc.events.start[croc.view.selected]"
                                         " && croc.events.start[croc.view.selected] < croc.view.t1"))
    checks.equal("its details", page.value("document.querySelector('#details h3').textContent"), second["Function"])
    details = page.value("Object.fromEntries([...document.querySelectorAll('#details div')].map((d) =>"
                         " [d.children[0].textContent, d.children[1].textContent]))")
    checks.equal("to the nanosecond", details["absolute start"], second["Start_Timestamp"] + "\u202fns")
    launched = [r for r in kernels if r["Correlation_Id"] == second["Correlation_Id"]]
    checks.equal("the kernel of the call", page.value("croc.view.related.map((e) => croc.texts[croc.events.name[e]])"),
                 [r["Kernel_Name"] for r in launched])
    checks.equal("a hostile name", page.value("croc.search('</SCRIPT>')"),
                 sum("</script>" in r["Kernel_Name"] for r in kernels) + 1)  # and a marker
    checks.equal("no match", page.value("[croc.search('nothing like it'), document.getElementById('found').textContent]"),
                 [0, "no match"])
    page.key("Escape")
    checks.equal("the end of the search", page.value("croc.found"), None)


def check_click(checks, page):
    """A click on the middle of a kernel selects it."""
    page.value("croc.showEvent(croc.tracks.find((t) => t.kind === 'kernel').lanes[0].list[5])")
    page.frame()
    x, y = page.value("(() => { const e = croc.tracks.find((t) => t.kind === 'kernel').lanes[0].list[5], p = placeOf(e),"
                      " b = document.getElementById('canvas').getBoundingClientRect();"
                      " return [b.left + p.x + p.width / 2, b.top + p.y + 8]; })()")
    page.click(x, y)
    checks.equal("a click selects", page.value("croc.view.selected === croc.tracks.find((t) => t.kind === 'kernel').lanes[0].list[5]"), True)
    page.key("Escape")
    checks.equal("and is undone", page.value("croc.view.selected"), -1)


def check_phone(checks, browser, path):
    page = browser.open(path, 380, 800, touch=True, dark=True)
    checks.equal("no wider than a phone", page.value("document.documentElement.scrollWidth"), 380)
    checks.equal("dark", page.value("theme.dark"), True)
    before = span(page)
    box = page.value("(() => { const b = document.getElementById('canvas').getBoundingClientRect(); return [b.left, b.top]; })()")
    fingers = lambda a, b: [{"x": box[0] + a, "y": box[1] + 80, "id": 1}, {"x": box[0] + b, "y": box[1] + 80, "id": 2}]  # noqa: E731
    page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers(150, 200))
    page.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=fingers(125, 225))
    page.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=fingers(100, 250))
    page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    checks.true("two fingers zoom", 2 < before / span(page) < 4)


def check_cut(checks, browser, path):
    """What a killed process leaves: the page shows the chunks that are whole."""
    with open(path, "rb") as file:
        data = file.read()
    cut = path + ".cut.html"
    with open(cut, "wb") as file:
        file.write(data[:len(data) * 2 // 3])
    page = browser.open(cut, 800, 600)
    checks.equal("no error", page.value("croc.error"), None)
    checks.true("much of it is there", page.value("croc.records") > ROWS / 3)
    checks.true("and it is said", "before its recording was complete" in page.value("document.getElementById('status').textContent"))


def main():
    if not program_find():
        print("there is no browser: chromium-headless-shell or chromium")
        return 77
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        prefix = os.path.join(folder, "rows")
        subprocess.run([sys.argv[1], prefix, str(ROWS)], check=True)
        path = prefix + "_results.html"
        page = browser.open(path, 1200, 900)
        rows = check_content(checks, page, prefix)
        check_tables(checks, page)
        check_view(checks, page)
        check_search(checks, page, *rows)
        check_click(checks, page)
        checks.equal("errors at the end", page.errors(), [])
        if os.environ.get("CROC_PICTURES"):
            page.picture(os.environ["CROC_PICTURES"], whole=True)
        check_phone(checks, browser, path)
        check_cut(checks, browser, path)
    return checks.exit()


sys.exit(main())
