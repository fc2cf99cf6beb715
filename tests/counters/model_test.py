"""The software GPU's counter model against oracles of its own: annotated assembly, the addresses a
kernel computes, invariants between counters, and published counts of real hardware.

    model_test.py CROCGPU TOOL LAUNCHER OBJECT TYPES_SOURCE CHECK

OBJECT is types.co or patterns.co, as CHECK needs.
"""
import os
import re
import sys
import tempfile

from counters_test import Run, require, require_equal, waves_and_items

CAPACITY = {"SQ": 8, "SQC": 8, "GRBM": 2, "TCC": 4, "TCP": 4, "TA": 2, "TD": 2, "SPI": 6, "CPC": 2,
            "CPF": 2, "TCA": 4, "GCEA": 2}
LINE, QUAD, WAVE = 64, 4, 64


def block_of(counter):
    block = counter.split("_")[0]
    return "SQ" if block == "SQC" else block


def collect(paths, counters, launches, **options):
    """Per launch {counter: {place: value}}, in as few runs as the blocks' capacities allow."""
    left, results = list(dict.fromkeys(counters)), [{} for _ in launches]
    while left:
        room, now = dict(CAPACITY), []
        for counter in left:
            if room[block_of(counter)] > 0:
                room[block_of(counter)] -= 1
                now.append(counter)
        left = [counter for counter in left if counter not in now]
        for result, (_, values) in zip(results, Run(paths, now, launches, **options).dispatches):
            result.update(values)
    return results


def totals(places):
    return {counter: sum(values.values()) for counter, values in places.items()}


# --- what instructions are counted as

def annotated(path):
    """{kernel: {counter: value per wave}} from the comments of types.s."""
    kernels, macro, counts, in_macro = {}, [], None, False
    for line in open(path):
        code, _, comment = line.partition(";")
        code = code.strip()
        label = re.match(r"^(\w+):$", code)
        if code.startswith(".macro"):
            in_macro = code.split()[1] == "PROLOGUE"
        elif code == ".endm":
            in_macro = False
        elif label and not label.group(1).endswith("_end"):
            counts = kernels.setdefault(label.group(1), {"SQ_INSTS": 0})
        elif code.startswith(".") or not code or label or not (in_macro or counts is not None):
            continue
        elif in_macro:
            macro.append(comment)
        elif counts is not None and not code.startswith(".amdhsa"):
            for words in macro if code == "PROLOGUE" else [comment]:
                counts["SQ_INSTS"] += 1
                for word in words.split():
                    name, _, weight = word.partition("*")
                    counts[name] = counts.get(name, 0) + int(weight or 1)
            if code == "s_endpgm":
                counts = None
    return kernels


def check_types(paths, source):
    launches = ["arithmetic:640x1x1:128x1x1", "arithmetic:100x1x1:100x1x1", "matrix:512x1x1:256x1x1",
                "memory:256x1x1:64x1x1"]
    kernels = annotated(source)
    counters = sorted(set().union(*kernels.values()))
    require(len(counters) > 50, "the annotations were not read")
    for launch, places in zip(launches, collect(paths, counters, launches)):
        expected, waves = kernels[launch.split(":")[0]], waves_and_items(launch)[0]
        got = totals(places)
        for counter in counters:
            require_equal("%s of %s" % (counter, launch), got[counter],
                          waves * expected.get(counter, 0))


def check_waves_by_size(paths, _):
    launches = ["arithmetic:%dx1x1:%dx1x1" % size for size in
                ((64, 64), (63, 64), (48, 64), (47, 64), (32, 64), (31, 64), (16, 64), (15, 64),
                 (1000, 192), (77, 10))]
    names = ["SQ_WAVES_EQ_64", "SQ_WAVES_LT_64", "SQ_WAVES_LT_48", "SQ_WAVES_LT_32",
             "SQ_WAVES_LT_16", "SQ_WAVES", "SQ_WAVES_SAVED", "SQ_WAVES_RESTORED"]
    for launch, places in zip(launches, collect(paths, names, launches)):
        grid, group = (int(part.split("x")[0]) for part in launch.split(":")[1:])
        sizes = [min(WAVE, items - at) for start in range(0, grid, group)
                 for items in [min(group, grid - start)] for at in range(0, items, WAVE)]
        expected = [sum(s == 64 for s in sizes)] + \
            [sum(s < bound for s in sizes) for bound in (64, 48, 32, 16)] + [len(sizes), 0, 0]
        require_equal("waves of " + launch, [totals(places)[name] for name in names], expected)


# --- requests, from the program's own addresses

PATTERNS = {  # element bytes; index of the load, of the store, of the atomic
    "copy_byte": (1, lambda i: i, lambda i: i, None),
    "copy_dword": (4, lambda i: i, lambda i: i, None),
    "copy_qword": (8, lambda i: i, lambda i: i, None),
    "copy_oword": (16, lambda i: i, lambda i: i, None),
    "copy_shifted": (4, lambda i: i + 1, lambda i: i + 3, None),
    "copy_strided": (4, lambda i: i * 3, lambda i: i, None),
    "copy_lines": (4, lambda i: i * 16, lambda i: i * 32, None),
    "scatter": (4, lambda i: i, lambda i: (i * 2654435761 & 0xffffffff) >> 12, None),
    "reuse": (4, lambda i: i & 1023, lambda i: i, None),
    "count": (4, None, None, lambda i: i & 255),
    "ticket": (4, None, lambda i: i + 65536, lambda i: i),
}
GEOMETRIES = ["4096x1x1:256x1x1", "1000x1x1:256x1x1", "256x1x1:256x1x1"]
PATTERN_LAUNCHES = ["%s:%s" % (name, geometry) for name in PATTERNS for geometry in GEOMETRIES]


def waves_of(launch):
    """Work-item numbers of each wave: groups of 256 in order."""
    grid = int(launch.split(":")[1].split("x")[0])
    for start in range(0, grid, WAVE):
        yield range(start, min(start + WAVE, grid))


def lines(index, size, item):
    first = index(item) * size
    return range(first // LINE, (first + size - 1) // LINE + 1)


class Requests:
    """What one instruction of the pattern asks the L1 for, over all waves."""

    def __init__(self, launch, size, index):
        self.tags = self.lanes = self.requests = 0
        self.footprint = set()
        for wave in waves_of(launch) if index else ():
            window = 16 if size <= 4 else QUAD
            self.requests += len({line for item in wave for line in lines(index, size, item)})
            # AMD's ratio of wavefronts to accesses is a percentage: no wave hands on less than 16
            # quads, whether they have lanes or not.
            for at in range(0, WAVE, window):
                items = wave[at:at + window]
                touched = {line for item in items for line in lines(index, size, item)}
                coalesced = len(touched) == 1 and size <= 4
                quads = [items[n:n + QUAD] for n in range(0, window, QUAD)]
                self.tags += len(touched)
                self.lanes += sum(1 if coalesced else max(len(quad), 1) for quad in quads)
                self.footprint |= touched


def check_requests(paths, _):
    names = ["TCP_TOTAL_CACHE_ACCESSES", "TCP_TOTAL_READ", "TCP_TOTAL_WRITE", "TCP_TOTAL_ACCESSES",
             "TCP_TOTAL_ATOMIC_WITH_RET", "TCP_TOTAL_ATOMIC_WITHOUT_RET", "TCP_TCC_READ_REQ",
             "TCP_TCC_WRITE_REQ", "TCP_TCC_ATOMIC_WITH_RET_REQ", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ",
             "TCP_UTCL1_REQUEST", "TCP_UTCL1_TRANSLATION_HIT", "TCP_UTCL1_TRANSLATION_MISS"]
    for launch, places in zip(PATTERN_LAUNCHES, collect(paths, names, PATTERN_LAUNCHES)):
        name = launch.split(":")[0]
        size, *indices = PATTERNS[name]
        got = totals(places)
        load, store, atomic = (Requests(launch, size, index) for index in indices)
        returns = name == "ticket"
        tags = load.tags + store.tags + atomic.tags
        expected = {
            "TCP_TOTAL_CACHE_ACCESSES": tags, "TCP_UTCL1_REQUEST": tags,
            "TCP_TOTAL_READ": load.lanes, "TCP_TOTAL_WRITE": store.lanes,
            "TCP_TOTAL_ACCESSES": load.lanes + store.lanes + atomic.lanes,
            "TCP_TOTAL_ATOMIC_WITH_RET": atomic.lanes if returns else 0,
            "TCP_TOTAL_ATOMIC_WITHOUT_RET": 0 if returns else atomic.lanes,
            "TCP_TCC_WRITE_REQ": store.requests,
            "TCP_TCC_ATOMIC_WITH_RET_REQ": atomic.requests if returns else 0,
            "TCP_TCC_ATOMIC_WITHOUT_RET_REQ": 0 if returns else atomic.requests,
        }
        for counter, value in expected.items():
            require_equal("%s of %s" % (counter, launch), got[counter], value)
        # Each line misses somewhere, and at most once for each instruction that wants it.
        misses = got["TCP_TCC_READ_REQ"]
        require(len(load.footprint) <= misses <= load.requests, "%s: %d misses of %d to %d" %
                (launch, misses, len(load.footprint), load.requests))
        require_equal("translations of " + launch, got["TCP_UTCL1_TRANSLATION_HIT"] +
                      got["TCP_UTCL1_TRANSLATION_MISS"], tags)


def halves_joined(launch, got):
    """Reads of a line's second half right behind its first one, which are one request with it: all
    of a copy of whole lines, some of the others."""
    reads = got["TCP_TCC_READ_REQ"]
    joined = reads - got["TCC_READ"] + got["SQC_TC_REQ"]
    name, items = launch.split(":")[:2]
    if name in ("copy_dword", "copy_qword", "copy_oword") and items.startswith("4096"):
        require_equal("halves of " + launch, joined, reads / 2)
    require(0 <= joined <= reads / 2, "%d of %d halves of %s joined" % (joined, reads, launch))
    return joined


def check_l2(paths, _):
    """L2 requests are what leaves the L1s; memory sees a streaming kernel's footprint."""
    names = ["TCC_REQ", "TCC_READ", "TCC_WRITE", "TCC_ATOMIC", "TCC_HIT", "TCC_MISS", "TCC_RW_REQ",
             "TCC_NC_REQ", "TCC_EA_RDREQ", "TCC_EA_WRREQ", "TCC_EA_WRREQ_64B", "TCC_WRITEBACK",
             "TCC_NORMAL_EVICT", "TCC_ALL_TC_OP_WB_WRITEBACK", "TCP_TCC_READ_REQ",
             "TCP_TCC_WRITE_REQ", "TCP_TCC_ATOMIC_WITH_RET_REQ", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ",
             "SQC_TC_REQ", "SQC_TC_INST_REQ", "SQC_TC_DATA_READ_REQ", "SQC_ICACHE_REQ",
             "SQC_ICACHE_HITS", "SQC_ICACHE_MISSES", "SQC_DCACHE_REQ", "SQC_DCACHE_HITS",
             "SQC_DCACHE_MISSES", "SQ_IFETCH", "SQC_ICACHE_MISSES_DUPLICATE",
             "SQC_DCACHE_MISSES_DUPLICATE"]
    for launch, places in zip(PATTERN_LAUNCHES, collect(paths, names, PATTERN_LAUNCHES)):
        name, got = launch.split(":")[0], totals(places)
        size, *indices = PATTERNS[name]
        load, store, _ = (Requests(launch, size, index) for index in indices)
        from_l1 = sum(got["TCP_TCC_%s_REQ" % kind] for kind in
                      ("READ", "WRITE", "ATOMIC_WITH_RET", "ATOMIC_WITHOUT_RET"))
        for what, left, right in (
                ("requests", got["TCC_REQ"], from_l1 - halves_joined(launch, got) + got["SQC_TC_REQ"]),
                ("kinds", got["TCC_REQ"], got["TCC_READ"] + got["TCC_WRITE"] + got["TCC_ATOMIC"]),
                ("memory types", got["TCC_REQ"], got["TCC_RW_REQ"] + got["TCC_NC_REQ"]),
                ("scalar requests", got["TCC_NC_REQ"], got["SQC_TC_DATA_READ_REQ"]),
                ("SQC", got["SQC_TC_REQ"], got["SQC_TC_INST_REQ"] + got["SQC_TC_DATA_READ_REQ"]),
                ("icache", got["SQC_ICACHE_REQ"], got["SQC_ICACHE_HITS"] + got["SQC_ICACHE_MISSES"] +
                 got["SQC_ICACHE_MISSES_DUPLICATE"]),
                ("fetches", got["SQC_ICACHE_REQ"], got["SQ_IFETCH"]),
                ("dcache", got["SQC_DCACHE_REQ"], got["SQC_DCACHE_HITS"] + got["SQC_DCACHE_MISSES"] +
                 got["SQC_DCACHE_MISSES_DUPLICATE"]),
                ("evictions", got["TCC_NORMAL_EVICT"], 0),  # all fits 8 MiB
                ("write-backs", got["TCC_WRITEBACK"], got["TCC_ALL_TC_OP_WB_WRITEBACK"])):
            require_equal("%s of %s" % (what, launch), left, right)
        for place, requests in places["TCC_REQ"].items():
            require_equal("hits and misses of %s at %s" % (launch, place),
                          places["TCC_HIT"][place] + places["TCC_MISS"][place], requests)
        if name.startswith("copy") or name in ("scatter", "reuse"):
            reads, footprint = got["TCC_EA_RDREQ"], len(load.footprint)
            require(footprint < reads <= footprint + got["SQC_TC_REQ"],
                    "%s: %d reads of memory for %d lines" % (launch, reads, footprint))
            require_equal("writes of memory of " + launch, got["TCC_EA_WRREQ"],
                          len(store.footprint))
        if name in ("copy_dword", "copy_qword", "copy_oword") and "4096" in launch:
            require_equal("bytes written by " + launch, 64 * got["TCC_EA_WRREQ_64B"], 4096 * size)


# --- time

def check_times(paths, _):
    """Waves' time is issue, waits and the arbiter's; occupancy is its integral; types are parts."""
    names = ["SQ_WAVE_CYCLES", "SQ_ACTIVE_INST_ANY", "SQ_WAIT_ANY", "SQ_WAIT_INST_ANY",
             "SQ_BUSY_CU_CYCLES", "SQ_INSTS_VALU", "SQ_BUSY_CYCLES", "GRBM_GUI_ACTIVE"]
    for launch, places in zip(PATTERN_LAUNCHES, collect(paths, names, PATTERN_LAUNCHES)):
        got = totals(places)
        for place, cycles in places["SQ_WAVE_CYCLES"].items():
            parts = sum(places[name][place] for name in
                        ("SQ_ACTIVE_INST_ANY", "SQ_WAIT_ANY", "SQ_WAIT_INST_ANY"))
            require(abs(cycles - parts) <= 2, "%s at %s: %s, parts %s" %
                    (launch, place, cycles, parts))
        require(0 < got["SQ_BUSY_CU_CYCLES"] <= got["SQ_WAVE_CYCLES"], "busy cycles of " + launch)
        require(max(places["SQ_BUSY_CYCLES"].values()) <= got["GRBM_GUI_ACTIVE"], "engines " + launch)
    occupancy = collect_derived(paths, ["MeanOccupancyPerCU", "SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE"])
    for launch, got in zip(PATTERN_LAUNCHES, occupancy):
        integral = got["MeanOccupancyPerCU"] * got["GRBM_GUI_ACTIVE"] * 104
        require(-0.01 < integral - 4 * got["SQ_WAVE_CYCLES"] < 4 * 8, "occupancy of %s: %s and %s" %
                (launch, integral, 4 * got["SQ_WAVE_CYCLES"]))


def collect_derived(paths, names):
    run = Run(paths, names, PATTERN_LAUNCHES)
    return [totals(values) for _, values in run.dispatches]


def check_threads(paths, _):
    """Every value repeats, with any number of host threads."""
    names = ["SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_WAIT_ANY", "SQ_IFETCH", "SQC_ICACHE_MISSES",
             "SQC_DCACHE_HITS", "SQ_BUSY_CYCLES", "SQ_BUSY_CU_CYCLES", "TCC_HIT", "TCC_MISS",
             "TCC_EA_RDREQ", "TCC_EA_WRREQ", "TCP_TCC_READ_REQ", "TCP_TOTAL_CACHE_ACCESSES",
             "TCP_UTCL1_TRANSLATION_MISS", "TCP_TCC_READ_REQ_LATENCY", "TA_TA_BUSY",
             "TD_LOAD_WAVEFRONT", "GRBM_GUI_ACTIVE", "SPI_RA_REQ_NO_ALLOC_CSN"]
    launches = [launch for launch in PATTERN_LAUNCHES if "4096" in launch]
    first = collect(paths, names, launches, environment={"CROCGPU_THREADS": "1"})
    for threads in ("2", "4"):
        other = collect(paths, names, launches, environment={"CROCGPU_THREADS": threads})
        for launch, a, b in zip(launches, first, other):
            for name in names:
                require(a[name] == b[name], "%s of %s with %s threads: %s and %s" %
                        (name, launch, threads, a[name], b[name]))


# --- other GPUs

def waves_by_place(launch, xccs, engines):
    """Groups go to the XCCs in turn, and in each to the shader engines in turn."""
    waves = {}
    grid, group = (int(part.split("x")[0]) for part in launch.split(":")[1:])
    for number, start in enumerate(range(0, grid, group)):
        place = (number % xccs, number // xccs % engines)
        waves[place] = waves.get(place, 0) + -(-min(group, grid - start) // WAVE)
    return waves


class Gpu:
    """One of the software GPU's models, as far as counts depend on it."""

    def __init__(self, name, xccs, engines, channels, line, memory, more):
        self.name, self.xccs, self.engines, self.channels = name, xccs, engines, channels
        self.line = line      # bytes that an L1 miss brings
        self.memory = memory  # how the L2's requests to memory are called
        self.counters = ["SQ_WAVES", "SQ_WAVES_sum", "SQ_INSTS_VALU", "SQ_INSTS_VMEM_RD",
                         "SQ_INSTS_VMEM_WR", "GRBM_GUI_ACTIVE", "TCC_HIT", "TCC_MISS",
                         "TCC_HIT_sum"] + [memory + end for end in
                                           ("_RDREQ", "_WRREQ", "_WRREQ_64B")] + more


# What gfx906 has no definitions for.
REQUESTS = ["SQ_ITEMS", "TCC_REQ", "TCC_REQ_sum", "TCC_READ", "TCC_WRITE", "TCC_ATOMIC",
            "TCP_TOTAL_CACHE_ACCESSES", "TCP_TOTAL_CACHE_ACCESSES_sum", "TCP_TCC_READ_REQ",
            "TCP_TCC_WRITE_REQ", "TCP_TCC_ATOMIC_WITH_RET_REQ", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ",
            "SQC_TC_REQ"]
GPUS = {gpu.name: gpu for gpu in (
    Gpu("gfx906", 1, 4, 16, 64, "TCC_EA",
        ["TCC_EA_RDREQ_32B", "TCC_EA_RDREQ_sum", "GCEA_SARB_DRAM_SIZED_REQUESTS"]),
    Gpu("gfx908", 1, 8, 32, 64, "TCC_EA", REQUESTS),
    Gpu("gfx90a", 1, 8, 32, 64, "TCC_EA", REQUESTS),
    Gpu("gfx942", 8, 4, 16, 128, "TCC_EA0", REQUESTS + ["TCC_BUBBLE"]))}


def lines_by_xcc(launch, size, index, gpu, line):
    """Lines that an instruction touches, once for each XCC: groups go to the XCCs in turn."""
    return {(item // 256 % gpu.xccs, at // line)
            for wave in waves_of(launch) if index for item in wave
            for at in (index(item) * size, index(item) * size + size - 1)}


def check_places(gpu, launch, places):
    """Waves are where their groups were sent; sums are sums; no channel loses a request."""
    expected = waves_by_place(launch, gpu.xccs, gpu.engines)
    for xcc in range(gpu.xccs):
        for engine in range(gpu.engines):
            require_equal("waves of %s at %d, %d" % (launch, xcc, engine),
                          places["SQ_WAVES"][xcc, engine, 0], expected.get((xcc, engine), 0))
    require(all(places["GRBM_GUI_ACTIVE"].values()), "an XCC was never active")
    require_equal("channels", len(places["TCC_HIT"]), gpu.xccs * gpu.channels)
    for counter, values in places.items():
        if counter + "_sum" in places:
            require_equal("instances of %s of %s" % (counter, launch), sum(values.values()),
                          sum(places[counter + "_sum"].values()))
    for place, requests in places.get("TCC_REQ", {}).items():
        require_equal("hits and misses of %s at %s" % (launch, place),
                      places["TCC_HIT"][place] + places["TCC_MISS"][place], requests)


def check_program(gpu, launch, got):
    """What follows from the program and its geometry alone."""
    name, waves = launch.split(":")[0], waves_and_items(launch)
    size, *indices = PATTERNS[name]
    load, store, atomic = (Requests(launch, size, index) for index in indices)
    require_equal("loads", got["SQ_INSTS_VMEM_RD"], waves[0] * bool(indices[0]))
    require_equal("waves", got["SQ_WAVES"], waves[0])
    if "TCC_REQ" not in got:
        return
    require_equal("items of " + launch, got["SQ_ITEMS"], waves[2])
    require_equal("look-ups of " + launch, got["TCP_TOTAL_CACHE_ACCESSES"],
                  load.tags + store.tags + atomic.tags)
    require_equal("writes of " + launch, got["TCP_TCC_WRITE_REQ"], store.requests)
    atomics = got["TCP_TCC_ATOMIC_WITH_RET_REQ"] + got["TCP_TCC_ATOMIC_WITHOUT_RET_REQ"]
    require_equal("atomics of " + launch, atomics, atomic.requests)
    joined = halves_joined(launch, got) if gpu.name == "gfx90a" else 0
    require_equal("L2 requests of " + launch, got["TCC_REQ"] - got["SQC_TC_REQ"],
                  got["TCP_TCC_READ_REQ"] + got["TCP_TCC_WRITE_REQ"] + atomics - joined)
    require_equal("kinds of " + launch, got["TCC_REQ"],
                  got["TCC_READ"] + got["TCC_WRITE"] + got["TCC_ATOMIC"])
    require(got["TCP_TCC_READ_REQ"] <= load.requests, "more misses than requests")


def check_memory(gpu, launch, got):
    """Memory is read once for each line that an XCC touches, instructions and arguments beside; it
    is written once for each half of a 128-byte line."""
    size, load, store, atomic = PATTERNS[launch.split(":")[0]]
    reads, longer = got[gpu.memory + "_RDREQ"], got.get("TCC_BUBBLE", 0)
    touched = lines_by_xcc(launch, size, load, gpu, gpu.line)
    changed = lines_by_xcc(launch, size, atomic, gpu, LINE)
    bytes_read = LINE * (reads - longer) + 2 * LINE * longer
    least = gpu.line * len(touched) + LINE * len(changed)
    beside = got["SQC_TC_REQ"] if "SQC_TC_REQ" in got else 8 * gpu.channels
    require(least < bytes_read <= least + LINE * beside, "%s on %s: %d bytes read, %d touched" %
            (launch, gpu.name, bytes_read, least))
    written = lines_by_xcc(launch, size, store, gpu, LINE) | changed
    require_equal("writes of memory of " + launch, got[gpu.memory + "_WRREQ"], len(written))
    if "GCEA_SARB_DRAM_SIZED_REQUESTS" in got:
        require_equal("32-byte units of " + launch, got["GCEA_SARB_DRAM_SIZED_REQUESTS"],
                      2 * reads - got["TCC_EA_RDREQ_32B"] + got["TCC_EA_WRREQ"] +
                      got["TCC_EA_WRREQ_64B"])


def check_gpu(paths, name):
    """Every pattern in every geometry; and all of it again, with another number of threads."""
    gpu, results = GPUS[name], []
    for threads in ("1", "3"):
        results.append(collect(paths, gpu.counters, PATTERN_LAUNCHES, environment={
            "CROCGPU_DEVICES": name, "CROCGPU_THREADS": threads}))
    require(results[0] == results[1], "values change with the number of host threads")
    for launch, places in zip(PATTERN_LAUNCHES, results[0]):
        require_equal("counters of " + launch, sorted(places), sorted(gpu.counters))
        check_places(gpu, launch, places)
        check_program(gpu, launch, totals(places))
        check_memory(gpu, launch, totals(places))
    return zip(PATTERN_LAUNCHES, map(totals, results[0]))


def check_gfx906(paths, _):
    check_gpu(paths, "gfx906")


def check_gfx908(paths, _):
    check_gpu(paths, "gfx908")


def check_gfx90a(paths, _):
    check_gpu(paths, "gfx90a")


def check_gfx942(paths, _):
    """An L1 line has 128 bytes: a wave's 64 doubles are four read requests but eight writes, each
    read one 128-byte transaction with memory, as published counts of an MI300X say."""
    got = dict(check_gpu(paths, "gfx942"))["copy_qword:4096x1x1:256x1x1"]
    waves = 4096 // WAVE
    require_equal("read requests", got["TCP_TCC_READ_REQ"], 4 * waves)
    require_equal("write requests", got["TCP_TCC_WRITE_REQ"], 8 * waves)
    require_equal("128-byte reads", got["TCC_BUBBLE"], 4 * waves)
    require_equal("64-byte writes", got["TCC_EA0_WRREQ_64B"], 8 * waves)


BUSY = ["SQ_BUSY_CYCLES", "TCC_BUSY", "TCP_GATE_EN1", "TCP_GATE_EN2", "TA_TA_BUSY", "TD_TD_BUSY"]
PEAK_BYTES = {"gfx908": 1228.8 / 1.502, "gfx90a": 1638.4 / 1.7, "gfx942": 5324.8 / 2.1}  # a cycle


def check_busy(paths, _):
    """No unit of any XCC is busy for longer than its XCC, and memory is not faster than it can be."""
    gpu = GPUS[(re.search(r"gfx\w+", paths[3].rsplit("patterns", 1)[1]) or ["gfx90a"])[0]]
    traffic = [gpu.memory + end for end in ("_RDREQ", "_WRREQ", "_WRREQ_64B")]
    longer = ["TCC_BUBBLE"] if gpu.name == "gfx942" else []
    for launch, places in zip(PATTERN_LAUNCHES, collect(
            paths, ["GRBM_GUI_ACTIVE"] + BUSY + traffic + longer, PATTERN_LAUNCHES,
            environment={"CROCGPU_DEVICES": gpu.name})):
        active = {place[0]: cycles for place, cycles in places["GRBM_GUI_ACTIVE"].items()}
        for counter in BUSY:
            for place, cycles in places[counter].items():
                require(cycles <= active[place[0]], "%s of %s at %s: %d cycles of %d" %
                        (counter, launch, place, cycles, active[place[0]]))
        for place, cycles in places["TCP_GATE_EN2"].items():
            require(cycles <= places["TCP_GATE_EN1"][place], "L1 of %s at %s" % (launch, place))
        require(max(places["TCC_BUSY"].values()) > 0, "no channel is busy")
        reads, writes, whole = (totals(places)[name] for name in traffic)
        size = LINE * (reads + sum(totals(places)[name] for name in longer)) + 32 * (writes + whole)
        require(0 < size <= PEAK_BYTES[gpu.name] * max(active.values()), "%s: %d bytes in %d cycles" %
                (launch, size, max(active.values())))


OCCUPANCY = """
SQ_LEVEL_WAVES: {architectures: {gfx906/gfx908/gfx90a/gfx942: {block: SQ, event: 5}}}
SQ_WAVE_CYCLES:
  architectures:
    gfx906: {block: SQ, event: 46}
    gfx908: {block: SQ, event: 47}
    gfx90a: {block: SQ, event: 74}
    gfx942: {block: SQ, event: 79}
INTEGRAL: {architectures: {gfx906/gfx908/gfx90a/gfx942: {expression: "accumulate(SQ_LEVEL_WAVES, LOW_RES)"}}}
"""


def check_occupancy(paths, _):
    """The level of waves, added up every fourth cycle, is the time that waves spent on the GPU, on
    every shader engine; the GPU is the one that the code object is for."""
    gpu = re.search(r"gfx\w+", paths[3].rsplit("patterns", 1)[1] or "")
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/counter_defs.yaml", "w") as file:
            file.write(OCCUPANCY)
        run = Run(paths, ["INTEGRAL", "SQ_WAVE_CYCLES"], PATTERN_LAUNCHES, environment={
            "CROCGPU_DEVICES": gpu[0] if gpu else "gfx90a", "ROCPROFILER_METRICS_PATH": folder})
    for launch, places in run.dispatches:
        require(sum(places["INTEGRAL"].values()) > 0, "nothing accumulated in " + launch)
        for place, integral in places["INTEGRAL"].items():
            require(abs(integral - places["SQ_WAVE_CYCLES"][place]) <= 1, "%s at %s: %s, not %s" %
                    (launch, place, integral, places["SQ_WAVE_CYCLES"][place]))


# --- real hardware

# rocprofiler-compute publishes the counters of its vcopy sample on an MI210: 2^20 doubles copied by
# 16384 waves (a first dispatch; values that do not depend on the compiler). Ours copies a quarter of it.
MI210 = {
    "SQ_WAVES": 16384, "SQ_WAVES_EQ_64": 16384, "SQ_ITEMS": 1048576, "SQ_INSTS_VMEM_RD": 16384,
    "SQ_INSTS_VMEM_WR": 16384, "SQ_INSTS_FLAT": 32768, "SQ_INSTS_LDS": 0, "SQ_INSTS_SENDMSG": 16384,
    "SQ_ACTIVE_INST_FLAT": 32768, "SQ_ACTIVE_INST_VMEM": 0, "SQ_INST_CYCLES_VMEM_RD": 16384,
    "SPI_CSN_NUM_THREADGROUPS": 4096, "SPI_CSN_WAVE": 16384, "SPI_SWC_CSC_WR": 32768,
    "SPI_VWC_CSC_WR": 16384, "TA_TOTAL_WAVEFRONTS": 32768, "TA_FLAT_READ_WAVEFRONTS": 16384,
    "TA_FLAT_WRITE_WAVEFRONTS": 16384, "TA_BUFFER_WAVEFRONTS": 0, "TD_LOAD_WAVEFRONT": 32768,
    "TD_STORE_WAVEFRONT": 16384, "TD_COALESCABLE_WAVEFRONT": 0, "TCP_TOTAL_ACCESSES": 2097152,
    "TCP_TOTAL_READ": 1048576, "TCP_TOTAL_WRITE": 1048576, "TCP_VOLATILE": 2097152,
    "TCP_TOTAL_CACHE_ACCESSES": 524288, "TCP_TA_TCP_STATE_READ": 32768,
    "TCP_UTCL1_REQUEST": 524288, "TCP_UTCL1_TRANSLATION_MISS": 832, "TCP_TCC_READ_REQ": 131072,
    "TCP_TCC_WRITE_REQ": 131072, "TCP_TCC_RW_READ_REQ": 131072, "TCC_WRITE": 131072,
    "TCC_ATOMIC": 0, "TCC_EA_WRREQ": 131072, "TCC_EA_WRREQ_64B": 131072,
}


# What waits in its dispatches that are published: the least and the most. Of the CPC's, of the last nine and of what is 0 the
# model has no more than these figures, so that this only holds them where they are; the first four it makes of the copy itself.
MI210_STALLS = {
    "TD_SPI_STALL": (189, 447), "TCP_TD_TCP_STALL_CYCLES": (3264, 5577),
    "SQC_DCACHE_INPUT_VALID_READYB": (55061, 206510), "SQC_TC_STALL": (0, 0),
    "CPC_CPC_TCIU_BUSY": (302, 352), "CPC_CPC_UTCL2IU_BUSY": (814, 3294),
    "CPC_UTCL1_STALL_ON_TRANSLATION": (545, 3347), "CPC_CPC_UTCL2IU_STALL": (0, 0),
    "CPF_CMP_UTCL1_STALL_ON_TRANSLATION": (0, 0), "CPF_CPF_STAT_STALL": (0, 0),
    "CPF_CPF_TCIU_STALL": (0, 0), "TA_ADDR_STALLED_BY_TD_CYCLES": (0, 0),
    "TCP_READ_TAGCONFLICT_STALL_CYCLES": (0, 0), "TCP_WRITE_TAGCONFLICT_STALL_CYCLES": (0, 0),
    "TCC_TOO_MANY_EA_WRREQS_STALL": (0, 0), "SPI_RA_BULKY_CU_FULL_CSN": (0, 0),
    "TCP_PENDING_STALL_CYCLES": (941639, 2130544), "TCP_TCR_TCP_STALL_CYCLES": (134964, 415871),
    "TA_ADDR_STALLED_BY_TC_CYCLES": (140097, 737336), "TA_DATA_STALLED_BY_TC_CYCLES": (189345, 613042),
    "TCC_EA_WRREQ_STALL": (111, 53032), "TCC_TAG_STALL": (33737, 117831), "TD_TC_STALL": (1019057, 2205061),
    "TCP_TCC_READ_REQ_LATENCY": (84151659, 206589686), "TCP_TCC_WRITE_REQ_LATENCY": (37276646, 52048905),
}
GROW_WITH_THE_COPY = [  # ours copies half of it
    "TD_SPI_STALL", "TCP_TD_TCP_STALL_CYCLES", "TCP_PENDING_STALL_CYCLES", "TCP_TCR_TCP_STALL_CYCLES",
    "TA_ADDR_STALLED_BY_TC_CYCLES", "TA_DATA_STALLED_BY_TC_CYCLES", "TCC_EA_WRREQ_STALL", "TCC_TAG_STALL", "TD_TC_STALL",
    "TCP_TCC_READ_REQ_LATENCY", "TCP_TCC_WRITE_REQ_LATENCY"]


def check_stalls(paths, _):
    names = list(MI210_STALLS) + ["SQC_DCACHE_MISSES", "SQC_DCACHE_MISSES_DUPLICATE"]
    got = totals(collect(paths, names, ["copy_qword:524032x1x1:256x1x1"])[0])
    for counter, (least, most) in MI210_STALLS.items():
        value = got[counter] * (2 if counter in GROW_WITH_THE_COPY else 1)
        require(least <= value <= most,
                "%s: %s, published %s to %s" % (counter, value, least, most))
    require_equal("duplicates", got["SQC_DCACHE_MISSES_DUPLICATE"], 30 * got["SQC_DCACHE_MISSES"])


def check_hardware(paths, _):
    launches = ["copy_qword:262144x1x1:256x1x1"]
    got = totals(collect(paths, list(MI210), launches)[0])
    for counter, value in MI210.items():
        require_equal(counter, 4 * got[counter], value)


# The same copy on three GPUs, between the least and the most of 38 to 104 published dispatches. Ours copies a quarter
# of it, and reads its arguments and its code besides.
PUBLISHED = {
    "gfx908": {"TCC_READ": (131120, 131909), "TCC_WRITE": (131072, 131072), "TCC_MISS": (262145, 262691),
               "TCC_RW_REQ": (262144, 262288), "TCP_TCC_READ_REQ": (131072, 131072)},
    "gfx90a": {"TCC_READ": (68989, 73540), "TCC_WRITE": (131072, 131072), "TCC_MISS": (131073, 131087),
               "TCC_HIT": (69048, 73587), "TCC_RW_REQ": (200114, 204781), "TCP_TCC_READ_REQ": (131072, 131072),
               "TCC_EA_RDREQ": (131073, 131087)},
    "gfx942": {"TCC_READ": (65767, 66417), "TCC_WRITE": (131072, 131072), "TCC_MISS": (131291, 131345),
               "TCC_HIT": (65536, 66160), "TCC_RW_REQ": (196608, 197248), "TCC_NC_REQ": (0, 0), "TCC_CC_REQ": (0, 0),
               "TCC_NORMAL_EVICT": (0, 41), "TCC_NORMAL_WRITEBACK": (0, 4), "TCP_TCC_READ_REQ": (65536, 65536),
               "TCC_ALL_TC_OP_WB_WRITEBACK": (65532, 65536), "TCC_EA0_RDREQ": (65751, 65791)},
}
ARGUMENTS_PERCENT = 2  # a quarter of the copy has all of them, and they count four times
# An MI210 joins 93 to 95 of 100 pairs of halves, the model all: these counters are lower by up to the rest of 65536.
NOT_JOINED, BY_JOINING = 65536 * 7 // 100, {"gfx90a": ["TCC_READ", "TCC_HIT", "TCC_RW_REQ"]}


def check_published(paths, _):
    gpu = [name for name in PUBLISHED if name in os.path.basename(paths[3])] or ["gfx90a"]
    published = PUBLISHED[gpu[0]]
    environment = {"CROCGPU_DEVICES": gpu[0]}
    places = collect(paths, list(published), ["copy_qword:262144x1x1:256x1x1"], environment=environment)[0]
    for counter, value in totals(places).items():
        least, most = published[counter]
        least -= NOT_JOINED if counter in BY_JOINING.get(gpu[0], []) else 0
        slack = (100 + ARGUMENTS_PERCENT) / 100
        require(least / slack <= 4 * value <= most * slack,
                "%s: %d, published %d to %d" % (counter, 4 * value, least, most))
    writes = set(places["TCC_WRITE"].values())
    require(len(writes) == 1, "channels do not write alike: %s" % writes)


def main():
    paths, source, check = sys.argv[1:5], sys.argv[5], sys.argv[6]
    globals()["check_" + check](paths, source)
    print(check + ": ok")


main()
