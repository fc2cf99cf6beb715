"""What rocprofv3-avail, its library and its Python module say about agents and counters.

usage: avail_test.py CROCPROF CROCGPU

The oracles are the geometry of the devices (AMD's CDNA papers), `crocgpu events`, and the number of registers that a
TCC has (four).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from checks import Checks  # noqa: E402

CROCPROF, CROCGPU = sys.argv[1:]
BIN = os.path.dirname(CROCPROF)
LIB = os.path.join(os.path.dirname(BIN), "lib")
AVAIL = os.path.join(BIN, "rocprofv3-avail")
LIBRARY = os.path.join(LIB, "rocprofiler-sdk", "librocprofv3-list-avail.so")
# Shader engines, XCCs, compute units of each
GEOMETRY = {"gfx90a": (8, 1, 104), "gfx906": (4, 1, 64)}
ORDER = {"-": 0, "exact": 1, "modelled": 2, "approximate": 3, "not counted": 4}
TOO_MANY_TCC = ["TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE"]

checks = Checks()


def run(*command, devices="gfx90a", **variables):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, CROCGPU_DEVICES=devices, **variables))
    return done.returncode, done.stdout, done.stderr


def blocks_of(text):
    """Counter_Name ... Dimensions, each as a dictionary."""
    found = []
    for line in text.splitlines():
        match = re.match(r"(\w+) *:\t(.*)", line)
        if match and match.group(1) == "Counter_Name":
            found.append({})
        if match and found:
            found[-1][match.group(1)] = match.group(2)
    return found


def command_list():
    status, out, _ = run(AVAIL, "list", devices="gfx90a,gfx906")
    checks.equal("list: status", status, 0)
    checks.equal("list: GPUs", re.findall(r"^GPU +:\t(\d+)\nName +:\t(\w+)$", out, re.M),
                 [("0", "gfx90a"), ("1", "gfx906")])
    checks.equal("list: one GPU", re.findall(r"^Name +:\t(\w+)$", run(AVAIL, "-d", "1", "list", "--pmc", devices="gfx90a,gfx906")[1],
                                            re.M), ["gfx906"])
    counted = blocks_of(run(AVAIL, "info", "--pmc")[1])
    events = {line.split()[-1] for line in run(CROCGPU, "events", "gfx90a")[1].splitlines()}
    events |= {name.replace("TCC_EA_", "TCC_EA0_") for name in events}  # two spellings of one thing
    basic = {one["Counter_Name"] for one in counted if one.get("Block")}
    checks.true("list: enough counters", len(basic) > 300)
    checks.equal("list: what the hardware does not have", basic - events, set())
    listed = set(run(AVAIL, "list")[1].split())
    checks.equal("list: what only info shows", {one["Counter_Name"] for one in counted} - listed, set())


def command_info():
    for name, (engines, _, units) in GEOMETRY.items():
        status, out, _ = run(AVAIL, "info", "--pmc", "SQ_WAVES", "TCC_HIT_sum", devices=name)
        found = blocks_of(out)
        checks.equal(f"info {name}: status", status, 0)
        checks.equal(f"info {name}: counters", [one["Counter_Name"] for one in found], ["SQ_WAVES", "TCC_HIT_sum"])
        checks.equal(f"info {name}: block", found[0].get("Block"), "SQ")
        checks.equal(f"info {name}: engines", re.findall(r"SHADER_ENGINE\[0:(\d+)\]", found[0]["Dimensions"]),
                     [str(engines - 1)])
        checks.equal(f"info {name}: expression", found[1].get("Expression"), "reduce(TCC_HIT,sum)")
        agent = run(AVAIL, "list", "--agent", devices=name)[1]
        checks.equal(f"list --agent {name}: units", re.findall(r"^cu_count +:\t(\d+)$", agent, re.M), [str(units)])
    status, out, error = run(AVAIL, "info", "--pmc", "SQ_WAVEZ")
    checks.equal("info: a misspelt name", (status, "did you mean SQ_WAVES?" in error), (1, True))


def command_pmc_check():
    status, out, _ = run(AVAIL, "pmc-check", "SQ_WAVES", "TCC_HIT")
    checks.equal("pmc-check: fits", (status, out), (
        0, "Following input counters can be collected together on GPU:0\tSQ_WAVES\tTCC_HIT\n"))
    status, out, error = run(AVAIL, "pmc-check", *TOO_MANY_TCC)
    checks.equal("pmc-check: five for four registers", (status, out, "TCC has 4" in error), (1, "", True))
    devices = "gfx90a,gfx90a"
    status, out, _ = run(AVAIL, "pmc-check", *[f"{n}:device={i % 2}" for i, n in enumerate(TOO_MANY_TCC)],
                         devices=devices)
    checks.equal("pmc-check: shared by two GPUs", (status, len(out.splitlines())), (0, 2))
    for words in (["pmc-check"], ["pmc-check", "SQ_WAVEZ"], ["pmc-check", "SQ_WAVES:gpu=0"], ["pmc-check", "SQ_WAVES:device=9"], ["-d", "7", "list"]):
        status, out, error = run(AVAIL, *words)
        checks.equal(f"{words}: refused in one line", (status, out, error.count("\n")), (1, "", 1))
    for words in (["nonsense"], ["list", "--nonsense"], ["-d", "x", "list"], ["-d"]):
        status, out, error = run(AVAIL, *words)
        checks.equal(f"{words}: usage", (status, out, error.count("\n")), (2, "", 1))


MODULE = """
import sys
sys.path.insert(0, sys.argv[1])
from rocprofv3 import avail
if len(sys.argv) > 2:
    avail.loadLibrary.libname = sys.argv[2]
(agent, counters), = avail.get_counters().items()
by_name = {one.name: one for one in counters}
waves, hits = by_name["SQ_WAVES"], by_name["TCC_HIT_sum"]
print(len(counters), waves.block, hits.expression, [str(one) for one in waves.dimensions])
print(type(waves).__name__, type(hits).__name__, avail.get_agent_info(agent)["cu_count"])
print(avail.check_pmc({agent: [waves.counter_handle, hits.counter_handle]}), avail.get_pc_sample_configs())
avail.check_pmc({agent: [by_name[n].counter_handle for n in sys.argv[3:]]})
"""


def python_module():
    """From the library itself, and as it finds it."""
    site = os.path.join(LIB, "python3", "site-packages")
    for words in ([site], [site, LIBRARY, *TOO_MANY_TCC]):
        status, out, error = run(CROCGPU, sys.executable, "-c", MODULE, *words)
        lines = out.splitlines()
        checks.equal(f"module {len(words)}: lines", len(lines), 3)
        checks.equal("module: status", status, 1)  # none and five are no set that is collected
        checks.equal("module: no set", error.splitlines()[-1:] and error.splitlines()[-1].startswith("Fatal error: "),
                     True)
        if len(lines) == 3:
            checks.equal("module: counters", lines[0].split(" ", 1)[1],
                         "SQ reduce(TCC_HIT,sum) ['DIMENSION_SHADER_ENGINE[0:7]', 'DIMENSION_INSTANCE[0:0]']")
            checks.equal("module: kinds", lines[1], "basic_counter derived_counter 104")
            checks.equal("module: sets", lines[2], "True {}")


COMPUTE = """
import os, sys
from pathlib import Path
prefix = Path(sys.argv[1])
sys.path.append(str(prefix / "bin"))
if len(sys.argv) > 2:
    os.environ["ROCPROFILER_METRICS_PATH"] = sys.argv[2]
from rocprofv3_avail_module import avail
avail.loadLibrary.libname = str(prefix / "lib" / "rocprofiler-sdk" / "librocprofv3-list-avail.so")
counters, = avail.get_counters().values()
print(*sorted(one.name for one in counters if hasattr(one, "block") or hasattr(one, "expression")))
"""
DEFINITIONS = """
rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: SQ_WAVES
      description: Waves
      properties: []
      definitions: [{architectures: [gfx90a], block: SQ, event: 4}]
    - name: TWICE_THE_WAVES
      description: Twice the waves
      properties: []
      definitions: [{architectures: [gfx90a], expression: "reduce(SQ_WAVES,sum)*2"}]
"""


def as_rocprof_compute():
    """As its 3.3.0 asks: the module in bin, a library of its choice, definitions of its own, named after the start."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "counter_defs.yaml"), "w", encoding="utf-8") as file:
            file.write(DEFINITIONS)
        ours = [one["Counter_Name"] for one in blocks_of(run(AVAIL, "info", "--pmc")[1]) if "Block" in one or "Expression" in one]
        checks.true("rocprof-compute: enough", len(ours) > 500)
        for words, wanted in (([], ours), ([folder], ["SQ_WAVES", "TWICE_THE_WAVES"])):
            status, out, error = run(CROCGPU, sys.executable, "-c", COMPUTE, os.path.dirname(BIN), *words)
            checks.equal(f"rocprof-compute {words}: {error}", (status, error, out.split()), (0, "", sorted(wanted)))


HOSTILE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_uint64(12345678)
text = ctypes.c_char_p(b"as it was")
for name in ("agent_info", "counter_block", "counter_expression"):
    getattr(library, name)(handle, ctypes.byref(text))
assert text.value == b"as it was"
library.get_number_of_agent_counters.restype = library.get_number_of_dimensions.restype = ctypes.c_size_t
assert library.get_number_of_agent_counters(handle) == 0 and library.get_number_of_dimensions(handle) == 0
library.is_counter_set.restype = ctypes.c_bool
assert not library.is_counter_set(None, handle, ctypes.c_size_t(3))
room = (ctypes.c_uint64 * 1)(7)
library.agent_handles(room, ctypes.c_size_t(0))
assert room[0] == 7
print("ok")
"""


def readers_and_disks():
    """A reader that has had enough is no mistake; a full disk is one."""
    for words in ([CROCPROF, "list"], [AVAIL, "info", "--pmc"]):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            process.stdout.close()
            checks.equal(f"{words}: closed pipe", (process.stderr.read(), process.wait(60)), ("", 0))
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            checks.equal(f"{words}: full disk", (done.returncode > 0, done.stderr.count("No space left")), (True, 1))


def hostile_handles():
    checks.equal("handles that are none", run(CROCGPU, sys.executable, "-c", HOSTILE, LIBRARY)[:2], (0, "ok\n"))


def crocprof_list():
    events = {}
    for line in run(CROCGPU, "events", "gfx90a")[1].splitlines():
        _, block, _, klass, name = line.split()
        events[name] = (block, {"none": "not counted"}.get(klass, klass))
    status, out, _ = run(CROCPROF, "list", "--json")
    gpu, = json.loads(out)
    counters = {one["name"]: one for one in gpu["counters"]}
    checks.equal("crocprof list: units", (status, gpu["agent"]["cu_count"]), (0, 104))
    checks.equal("crocprof list: classes", {name: one["class"] for name, one in counters.items() if one["block"]
                                            and name in events},
                 {name: events[name][1] for name, one in counters.items() if one["block"] and name in events})
    checks.equal("crocprof list: instances of SQ_WAVES", [one["instances"] for one in counters["SQ_WAVES"]["dimensions"]],
                 [8, 1])
    for one in counters.values():  # a computed counter is no better than what it is computed from
        operands = [counters[name] for name in re.findall(r"[A-Za-z]\w+", one["expression"]) if name in counters]
        for operand in operands:
            checks.true(f"{one['name']} is better than {operand['name']}", ORDER[one["class"]] >= ORDER[operand["class"]])
    names = re.findall(r"^  (\w+) ", run(CROCPROF, "list", "tcc_hit*")[1], re.M)[1:]
    checks.equal("crocprof list: a pattern", sorted(names), sorted(n for n in counters if n.startswith("TCC_HIT")))
    text = run(CROCPROF, "list", "--details", "^TCC_HIT_sum$")[1]
    checks.true("crocprof list: expression", "      = reduce(TCC_HIT,sum)\n" in text)
    status, out, _ = run(CROCPROF, "list", "--json", "--fits", *TOO_MANY_TCC, "SQ_WAVES")
    fits, = json.loads(out)
    checks.equal("crocprof list --fits: two runs", (status, len(fits["runs"]), sorted(sum(fits["runs"], []))),
                 (1, 2, sorted(TOO_MANY_TCC + ["SQ_WAVES"])))
    checks.true("crocprof list --fits: never five of TCC", all(
        len([n for n in one if n.startswith("TCC")]) <= 4 for one in fits["runs"]))
    checks.equal("crocprof list --fits: joined by commas",
                 run(CROCPROF, "list", "--json", "--fits", ",".join([*TOO_MANY_TCC, "SQ_WAVES"]))[:2], (status, out))
    checks.equal("crocprof list --fits: one run", run(CROCPROF, "list", "--fits", "SQ_WAVES", "TCC_HIT")[0], 0)
    checks.equal("crocprof list: the caller's LD_PRELOAD", run(CROCPROF, "list", "SQ_WAVES", LD_PRELOAD=LIBRARY)[0], 0)


command_list()
crocprof_list()
command_info()
command_pmc_check()
python_module()
as_rocprof_compute()
hostile_handles()
readers_and_disks()
checks.exit()
