"""crocprof analyze: kernels that are each slow for one reason are told apart, with numbers that
follow from their geometry.

    analyze_test.py CROCPROF PROGRAMS
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

from crocprof_run import Checks

CUS = 104  # of gfx90a


def run(command, timeout=240):
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def short(name):
    return name.split("(anonymous namespace)::")[-1].split("(")[0]


def kernels_of(text):
    return {short(k["name"]): k for k in json.loads(text)["kernels"]}


def said(kernel):
    return [s["rule"] for s in kernel["says"]]


def near(checks, what, got, wanted, part):
    checks.true("%s: %r, expected about %r" % (what, got, wanted), abs(got - wanted) <= abs(wanted) * part)


def check_bounds(checks, kernels):
    bounds = {name: said(k)[0] for name, k in kernels.items() if not name.startswith("__amd")}
    checks.equal("bound by", bounds, {
        "lds_conflicts": "lds", "strided": "l2", "divergent": "compute", "arithmetic": "compute",
        "streaming": "memory", "few_waves": "occupancy", "chase": "grid"})
    wanted = {"lds_conflicts": {"conflicts"}, "strided": {"uncoalesced"}, "divergent": {"divergent"}}
    for name, kernel in kernels.items():
        problems = {"conflicts", "uncoalesced", "divergent"} & set(said(kernel))
        if name != "chase":  # whose lanes walk apart, which is so
            checks.equal(name + " has", problems, wanted.get(name, set()))


def check_numbers(checks, kernels):
    # 256 reads of 32 cycles for each half wave, and 8 writes of one
    conflicts = 256 * 62 / (256 * 64 + 8 * 2)
    near(checks, "conflicts", kernels["lds_conflicts"]["conflict_share"], conflicts, 1e-9)
    # eight reads of a line a lane, one write of 256 bytes
    near(checks, "lines, strided", kernels["strided"]["lines"], (8 * 64 + 4) / 9, 1e-9)
    near(checks, "lines, streaming", kernels["streaming"]["lines"], 16, 1e-9)
    near(checks, "lines, arithmetic", kernels["arithmetic"]["lines"], 4, 1e-9)
    near(checks, "lanes, divergent", kernels["divergent"]["lanes"], 16, 0.05)
    near(checks, "lanes, arithmetic", kernels["arithmetic"]["lanes"], 64, 1e-9)
    near(checks, "bytes, streaming", kernels["streaming"]["bytes"], 32 << 20, 0.01)
    near(checks, "flops, arithmetic", kernels["arithmetic"]["flops"], CUS * 8 * 256 * 1024 * 2, 0.01)
    checks.equal("waves that LDS lets be", kernels["few_waves"]["waves_per_cu_limit"], 1)
    near(checks, "waves that were", kernels["few_waves"]["waves_per_cu"], 1, 0.01)
    checks.equal("waves of the others", kernels["arithmetic"]["waves_per_cu_limit"], 32)


def check_text(checks, text):
    for words in ("gfx90a", "104 compute units at 1700 MHz", "memory 1638 GB/s", "22.6 TFLOP/s", "By the device's own word",
                  "SQ_LDS_BANK_CONFLICT modelled", "SQ_INSTS_VMEM_RD exact", "Bound by LDS", "limited by 40960 bytes of LDS",
                  "Bank conflicts: 97 %", "Divergent: 16."):
        checks.true("the text has %r" % words, words in text)
    checks.true("and nothing that is no number", "nan" not in text and "inf" not in text)


def check_link(checks, crocprof, program):
    """Kernels on the host's memory wait for the link there; on the GPU's own they do not."""
    output = run([crocprof, "analyze", "--json", program]).stdout
    kernels = kernels_of(output[output.index("{"):])  # behind the program's own
    for name, is_bound in {"read_own": False, "read_own_fine": False, "read_host": True, "read_host_coarse": True,
                           "write_host": True, "add_host": True}.items():
        checks.equal(name + " is bound by a link", said(kernels[name])[0] == "link", is_bound)
        share = kernels[name]["elsewhere_share"]  # of a kernel's arguments there is always some
        checks.true("%s elsewhere: %r" % (name, share), abs(share - is_bound) < 0.01)
    text = run([crocprof, "analyze", program]).stdout
    checks.true("the text: " + text, "Bound by a link: 100 % of its requests of memory go to the host or another GPU, 2" in text)


def check_exact(checks, crocprof, program, folder):
    """A recording with an exact counter alone: its class is said, and kernels' modelled time ranks them, not that of the wall clock."""
    run([crocprof, "--pmc", "SQ_WAVES", "-f", "rocpd", "-d", folder, "-o", "exact", "--no-summary", program])
    path = os.path.join(folder, "exact_results.db")
    kernels = json.loads(run([crocprof, "analyze", "--json", path]).stdout)["kernels"]
    times = [k["modelled_seconds"] for k in kernels]
    checks.true("modelled times %r" % times, len(times) > 5 and all(times) and times == sorted(times, reverse=True))
    text = run([crocprof, "analyze", path]).stdout
    checks.true("the class, and the time: " + text, "[SQ_WAVES exact]" in text and "each (modelled)" in text
                and "% of all kernels' modelled time; " in text)


def main():
    crocprof, programs = sys.argv[1:3]
    program = os.path.join(programs, "bottlenecks")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        path = os.path.join(folder, "analysis.json")
        done = run([crocprof, "analyze", "--json", "--output", path, program])
        checks.equal("status", done.returncode, 0)
        checks.equal("the program's output", done.stdout, "bottlenecks: ok\n")
        with open(path, encoding="utf-8") as file:
            kernels = kernels_of(file.read())
        check_bounds(checks, kernels)
        check_numbers(checks, kernels)
        done = run([crocprof, "analyze", program])
        check_text(checks, done.stdout)
        os.unlink(path)
        checks.equal("nothing is left behind", os.listdir(folder), [])
        # a recording with few counters: what they suffice for, and what is missing
        done = run([crocprof, "--pmc", "SQ_LDS_BANK_CONFLICT,SQ_LDS_IDX_ACTIVE", "-f", "rocpd", "-d", folder, "-o", "few",
                    "--no-summary", program, "lds_conflicts"])
        recording = glob.glob(os.path.join(folder, "*_results.db"))
        done = run([crocprof, "analyze", *recording])
        checks.equal("status of a recording", done.returncode, 0)
        checks.true("what is known is said", "Bank conflicts: 97 %" in done.stdout)
        checks.true("what is missing, too", "is not said: GRBM_GUI_ACTIVE, SQ_WAVES" in done.stdout)
        checks.true("and nothing is made up", "Bound by" not in done.stdout)
        done = run([crocprof, "analyze", "--json", *recording])
        kernel = kernels_of(done.stdout)["lds_conflicts"]
        checks.equal("of a recording", said(kernel), ["waves", "conflicts"])
        checks.equal("classes", [(s["counters"], s["classes"]) for s in kernel["says"] if s["rule"] == "conflicts"],
                     [(["SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"], 2 * ["modelled"])])
        check_exact(checks, crocprof, program, folder)
        os.environ["HSA_FORCE_FINE_GRAIN_PCIE"] = "1"
        check_link(checks, crocprof, os.path.join(programs, "memory_types"))
        done = run([crocprof, "analyze", "/nowhere/at/all"])
        checks.equal("no such program", done.returncode, 127)
        done = run([crocprof, "analyze", "--", "sh", "-c", "exit 7"])
        checks.equal("the program's own status", done.returncode, 7)
    return checks.exit()


sys.exit(main())
