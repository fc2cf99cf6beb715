"""Counters against what must be: launch geometry, disassembly, and each other.

    counters_test.py CROCGPU TOOL LAUNCHER OBJECT OBJDUMP CHECK

The tool is a client of the SDK that writes every value with its place. CHECK is one of the
functions check_* below.
"""
import os
import re
import subprocess
import sys
import tempfile

# KERNEL:grid:group in work-items; several are partial in one or more dimensions.
LAUNCHES = [
    "vector_math:64x1x1:64x1x1", "vector_math:1x1x1:1x1x1", "vector_math:65x1x1:64x1x1",
    "vector_math:1000x1x1:256x1x1", "vector_math:100x7x1:16x8x1", "vector_math:130x3x1:65x2x1",
    "scalar_math:4096x1x1:256x1x1", "scalar_math:777x1x1:192x1x1",
    "local_memory:2048x1x1:1024x1x1", "local_memory:1500x1x1:300x1x1",
    "generic_memory:512x1x1:128x1x1", "generic_memory:333x1x1:100x1x1",
]
CAPACITY = 8  # counters of the SQ block that fit one run


class Run:
    """One run of the launcher with the tool; dispatches[i] = (launch text, {counter: {place: value}})."""

    def __init__(self, paths, counters, launches=LAUNCHES, mode="buffer", environment=None):
        crocgpu, tool, launcher, code = paths
        with tempfile.NamedTemporaryFile(suffix=".txt") as output:
            env = dict(os.environ, COUNTING_COUNTERS=",".join(counters), COUNTING_MODE=mode,
                       COUNTING_OUTPUT=output.name, LD_PRELOAD=tool, **(environment or {}))
            command = [crocgpu]
            if "COUNTING_ROOT" in env:  # another release's runtime: its loader starts the program
                scripts, root = env["COUNTING_ROOT"].split(":")
                library = os.path.join(os.path.dirname(crocgpu), "../lib/libcrocgpu.so")
                env["LD_PRELOAD"] = library + ":" + tool
                command = [os.path.join(scripts, "debian_run.sh"), root]
            done = subprocess.run(command + [launcher, code] + launches, env=env, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.program_output, self.status = done.stdout, done.returncode
            self.lines = output.read().decode().splitlines()
        self.errors = done.stderr
        dispatches, self.configs, sizes = {}, [], {}
        for line in self.lines:
            word = line.split()
            if word[0] == "config":
                self.configs.append((int(word[1]), int(word[2])))
            elif word[0] == "dispatch":
                grid = "x".join(word[2:5]) + ":" + "x".join(word[5:8])
                dispatches[int(word[1])] = (grid, {})
                sizes[int(word[1])] = int(word[8])
            elif word[0] == "value":
                place = tuple(map(int, word[3:6]))
                values = dispatches[int(word[1])][1].setdefault(word[2], {})
                require(place not in values, "%s twice at %s" % (word[2], place))
                values[place] = float(word[6])
        for dispatch, (_, values) in dispatches.items():
            require(sum(map(len, values.values())) == sizes[dispatch], "wrong number of records")
        require(self.status == 0, "status %d\n%s%s" % (self.status, done.stdout, done.stderr))
        require(self.lines and self.lines[-1] == "end", "the tool's output is cut")
        # hipMemset launches kernels of the runtime's own; ours are told by their geometry.
        wanted = [launch.split(":", 1)[1] for launch in launches]
        self.dispatches = []
        for dispatch in sorted(dispatches):
            if len(self.dispatches) < len(wanted) and \
                    dispatches[dispatch][0] == wanted[len(self.dispatches)]:
                self.dispatches.append((launches[len(self.dispatches)], dispatches[dispatch][1]))
        require(len(self.dispatches) == len(launches), "%d of %d launches counted\n%s" %
                (len(self.dispatches), len(launches), "\n".join(self.lines[:40])))

    def total(self, dispatch, counter):
        return sum(self.dispatches[dispatch][1][counter].values())


def require(condition, message):
    if not condition:
        sys.exit("counters_test: " + message)


def require_equal(what, got, expected):
    require(got == expected, "%s: %s, expected %s" % (what, got, expected))


def geometry(launch):
    _, grid, group = launch.split(":")
    return [int(n) for n in grid.split("x")], [int(n) for n in group.split("x")]


def waves_and_items(launch):
    """Partial work-groups have their own number of waves."""
    grid, group = geometry(launch)
    waves, groups = 0, 0
    parts = []
    for size, step in zip(grid, group):
        parts.append([min(step, size - at) for at in range(0, size, step)])
    for z in parts[2]:
        for y in parts[1]:
            for x in parts[0]:
                waves += -(-x * y * z // 64)
                groups += 1
    return waves, groups, grid[0] * grid[1] * grid[2]


def classify(mnemonic):
    """The counters that one executed instruction adds to."""
    if mnemonic.startswith("v_"):
        return ["SQ_INSTS_VALU"]
    if mnemonic.startswith("ds_"):
        return ["SQ_INSTS_LDS"]
    if mnemonic.startswith(("flat_", "global_", "buffer_", "scratch_")):
        kind = "SQ_INSTS_VMEM_RD" if "_load" in mnemonic else "SQ_INSTS_VMEM_WR"
        # Published measurements on MI210 count global instructions as FLAT, and FLAT as LDS only
        # where it goes there; these kernels' generic pointers are global ones.
        flat = [] if mnemonic.startswith("buffer_") else ["SQ_INSTS_FLAT"]
        return [kind, "SQ_INSTS_VMEM"] + flat
    if mnemonic.startswith(("s_load", "s_buffer_load", "s_store", "s_dcache", "s_memtime")):
        return ["SQ_INSTS_SMEM"]
    if mnemonic.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc")):
        return ["SQ_INSTS_BRANCH"]
    if mnemonic.startswith("s_sendmsg") or mnemonic == "s_endpgm":  # as MI210 counts it
        return ["SQ_INSTS_SENDMSG"]
    if mnemonic in ("s_barrier", "s_nop", "s_waitcnt", "s_sleep"):
        return []
    return ["SQ_INSTS_SALU"]


INSTRUCTION_COUNTERS = ["SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS",
                        "SQ_INSTS_FLAT", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM",
                        "SQ_INSTS_BRANCH", "SQ_INSTS_SENDMSG"]


def disassembly(objdump, code):
    """Executed instructions per kernel, by counter: straight-line code up to s_endpgm."""
    text = subprocess.run([objdump, "-d", code], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    kernels, counts = {}, None
    for line in text.splitlines():
        start = re.match(r"^[0-9a-f]+ <(\w+)>:", line)
        if start:
            counts = dict.fromkeys(INSTRUCTION_COUNTERS, 0)
            kernels[start.group(1)] = counts
        elif counts is not None and line.startswith("\t"):
            mnemonic = line.split()[0]
            for counter in classify(mnemonic):
                counts[counter] += 1
            if mnemonic == "s_endpgm":
                counts = None
    for name, counts in kernels.items():
        require_equal("branches of " + name, counts["SQ_INSTS_BRANCH"], 0)
    return kernels


def check_waves(paths, objdump):
    run = Run(paths, ["SQ_WAVES", "SQ_ITEMS", "SPI_CSN_WAVE", "SPI_CSN_NUM_THREADGROUPS"])
    for i, (launch, values) in enumerate(run.dispatches):
        waves, groups, items = waves_and_items(launch)
        require_equal("SQ_WAVES of " + launch, run.total(i, "SQ_WAVES"), waves)
        require_equal("SPI_CSN_WAVE of " + launch, run.total(i, "SPI_CSN_WAVE"), waves)
        require_equal("groups of " + launch, run.total(i, "SPI_CSN_NUM_THREADGROUPS"), groups)
        require_equal("SQ_ITEMS of " + launch, run.total(i, "SQ_ITEMS"), items)
        require_equal("engines", sorted(p[1] for p in values["SQ_WAVES"]), list(range(8)))


def check_instructions(paths, objdump):
    kernels = disassembly(objdump, paths[3])
    for first in range(0, len(INSTRUCTION_COUNTERS), CAPACITY - 1):
        counters = INSTRUCTION_COUNTERS[first:first + CAPACITY - 1] + ["SQ_WAVES"]
        run = Run(paths, counters)
        for i, (launch, _) in enumerate(run.dispatches):
            waves = waves_and_items(launch)[0]
            for counter in counters[:-1]:
                require_equal("%s of %s" % (counter, launch), run.total(i, counter),
                              waves * kernels[launch.split(":")[0]][counter])


def check_sums(paths, objdump):
    """Derived sums are the sums of the instances; cache requests hit or miss; ratios agree."""
    run = Run(paths, ["TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_HIT_sum", "TCC_MISS_sum",
                      "TCC_REQ_sum", "L2CacheHit", "SQ_WAVES", "SQ_WAVES_sum", "GRBM_COUNT",
                      "GRBM_GUI_ACTIVE", "GPU_UTIL", "CU_NUM"])
    for i, (launch, values) in enumerate(run.dispatches):
        require_equal("channels", len(values["TCC_HIT"]), 32)
        for name in ("TCC_HIT", "TCC_MISS", "TCC_REQ", "SQ_WAVES"):
            require_equal(name + "_sum of " + launch, run.total(i, name + "_sum"),
                          run.total(i, name))
        for place in values["TCC_REQ"]:
            require_equal("hits + misses at %s of %s" % (place, launch),
                          values["TCC_HIT"][place] + values["TCC_MISS"][place],
                          values["TCC_REQ"][place])
        require(run.total(i, "TCC_REQ") > 0, "no requests of " + launch)
        hit = 100 * run.total(i, "TCC_HIT") / run.total(i, "TCC_REQ")
        require(abs(run.total(i, "L2CacheHit") - hit) < 1e-9, "L2CacheHit of " + launch)
        active, count = run.total(i, "GRBM_GUI_ACTIVE"), run.total(i, "GRBM_COUNT")
        require(0 < active <= count, "GRBM_GUI_ACTIVE %s of %s" % (active, count))
        require(abs(run.total(i, "GPU_UTIL") - 100 * active / count) < 1e-9, "GPU_UTIL")
        require_equal("CU_NUM", run.total(i, "CU_NUM"), 104)


EXACT = ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "TCC_HIT", "TCC_MISS", "TCC_REQ",
         "TCP_TOTAL_ACCESSES", "TCP_TCC_READ_REQ"]


# Which channel of the L2 has what, which follows from where memory lies.
PLACED = ["TCC_HIT", "TCC_MISS", "TCC_EA_RDREQ", "TCC_EA_WRREQ"]


def check_determinism(paths, objdump):
    """The same values in every run, with any number of host threads, from both services, wherever
    the host puts the program's memory."""
    for counters in EXACT, PLACED:
        first = Run(paths, counters, environment={"CROCGPU_THREADS": "1"})
        others = [Run(paths, counters, environment={"CROCGPU_THREADS": "2"}),
                  Run(paths, counters, environment={"CROCGPU_THREADS": "4"}),
                  Run(paths, counters, mode="callback")]
        for other in others:
            require_equal("results", other.program_output, first.program_output)
            for (launch, a), (_, b) in zip(first.dispatches, other.dispatches):
                for counter in counters:
                    require(a[counter] == b[counter], "%s of %s differs: %s %s" %
                            (counter, launch, a[counter], b[counter]))
    require(len(first.dispatches[0][1]["TCC_HIT"]) == 32, "not the values of each channel")


def check_results(paths, objdump):
    """Counting changes no result."""
    crocgpu, _, launcher, code = paths
    plain = subprocess.run([crocgpu, launcher, code] + LAUNCHES, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=120)
    require_equal("status", plain.returncode, 0)
    counted = Run(paths, ["SQ_WAVES", "TCC_HIT", "TCP_TOTAL_ACCESSES"])
    require_equal("results", counted.program_output, plain.stdout)


def check_limits(paths, objdump):
    """One counter more than the hardware has is refused when the configuration is made, and the
    program runs on without counters."""
    launches = LAUNCHES[:2]
    try:
        Run(paths, ["TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE"], launches)
    except SystemExit as refusal:
        require("0 of 2 launches counted" in str(refusal), str(refusal))
        require("config 5 38" in str(refusal), "status of the configuration: " + str(refusal))
        return
    sys.exit("counters_test: five counters in four registers")


def main():
    paths, objdump, check = sys.argv[1:5], sys.argv[5], sys.argv[6]
    globals()["check_" + check](paths, objdump)
    print(check + ": ok")


if __name__ == "__main__":
    main()
