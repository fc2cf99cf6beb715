"""The pictures of README.md, from runs of real programs.

    pictures.py FOLDER CROCPROF PROGRAMS
"""
import base64
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "html"))
from browser import Browser, program_find  # noqa: E402

SIZE_MAX = 150 * 1024


def page_make(crocprof, folder, options, command):
    subprocess.run([crocprof, "--no-summary", "-f", "html", "-d", folder, *options, "--", *command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
    return glob.glob(os.path.join(folder, "*_results.html"))[0]


def box(page, selector):
    x, y, width, height = page.value("(() => { const b = document.querySelector('%s').getBoundingClientRect();"
                                     " return [b.left + scrollX, b.top + scrollY, b.width, b.height]; })()" % selector)
    return {"x": x - 8, "y": y - 8, "width": width + 16, "height": height + 16, "scale": 1}


def picture_take(page, path, clip):
    data = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
    with open(path, "wb") as file:
        file.write(base64.b64decode(data))


def timeline_take(browser, crocprof, programs, path):
    with tempfile.TemporaryDirectory() as folder:
        page = browser.open(page_make(crocprof, folder, ["--sys-trace", "--memory-allocation-trace=no"],
                                      [os.path.join(programs, "streams")]), 1100, 1000)
        page.value("(() => { const k = croc.tracks.filter((t) => t.kind === 'kernel').flatMap((t) => t.lanes.flatMap((l) => [...l.list]));"
                   " const a = Math.min(...k.map((e) => croc.events.start[e])), b = Math.max(...k.map((e) => croc.events.start[e] + croc.events.length[e]));"
                   " croc.viewSet(a - (b - a) * .05, b + (b - a) * .15); croc.select(k[k.length >> 1]); document.getElementById('details').hidden = true; })()")
        page.frame()
        clip = box(page, "#timeline")
        picture_take(page, path, clip)


def analysis_take(browser, crocprof, programs, path):
    with open(os.path.join(here, "..", "..", "tool", "analyze", "counters.h"), encoding="utf-8") as file:
        counters = re.findall(r"^    X\((\w+)\)", file.read(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        page = browser.open(page_make(crocprof, folder, ["--pmc", ",".join(counters)],
                                      [os.path.join(programs, "bottlenecks")]), 1100, 1000)
        page.frame()
        clip, last = box(page, "#occupancy"), box(page, "#roofline")
        clip["height"] = last["y"] + last["height"] - clip["y"]
        picture_take(page, path, clip)


def picture_check(path):
    with open(path, "rb") as file:
        data = file.read()
    width, height = struct.unpack(">II", data[16:24])
    if not 800 < width < 1200 or not 200 < height < 1300 or not 8000 < len(data) <= SIZE_MAX:
        sys.exit("%s: %d x %d, %d bytes" % (path, width, height, len(data)))


def main():
    folder, crocprof, programs = sys.argv[1:4]
    if not program_find():
        print("there is no browser: chromium-headless-shell or chromium")
        return 77
    os.makedirs(folder, exist_ok=True)
    with Browser() as browser:
        for name, take in (("timeline.png", timeline_take), ("analysis.png", analysis_take)):
            take(browser, crocprof, programs, os.path.join(folder, name))
            picture_check(os.path.join(folder, name))
    return 0


sys.exit(main())
