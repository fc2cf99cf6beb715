"""Counters of kernels that read, write and add to memory of each kind, as rocprofiler-compute's
documents measure them on an MI250 ("Infinity Fabric transactions"): what is read again and again
comes from memory as often as the L2 does not hold it, uncached 64-byte reads count as two of 32
bytes and uncached writes as one, atomics on the host's memory are requests of 32 bytes; and such
kernels take as long as their link does.

    memory_types_test.py CROCPROF MEMORY_TYPES
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crocprof"))
from crocprof_run import Checks, Profile  # noqa: E402

ITEMS, LINES = 1 << 18, (1 << 20) // 64
CLOCK_HZ = 1.7e9
SUMS = ["TCC_EA_RDREQ", "TCC_EA_RDREQ_DRAM", "TCC_EA_RD_UNCACHED_32B", "TCC_EA_WRREQ",
        "TCC_EA_WRREQ_64B", "TCC_EA_WRREQ_DRAM", "TCC_EA_WR_UNCACHED_32B", "TCC_EA_ATOMIC",
        "TCC_EA_RDREQ_IO_CREDIT_STALL", "TCC_EA_RDREQ_GMI_CREDIT_STALL", "TCC_EA_WRREQ_STALL",
        "TCC_RW_REQ", "TCC_NC_REQ", "TCC_UC_REQ", "TCC_CC_REQ", "TCC_REQ", "TCC_BUSY",
        "TCP_TCC_UC_READ_REQ", "TCP_TCC_NC_READ_REQ", "TCP_TCC_RW_READ_REQ", "TCP_TCC_CC_READ_REQ",
        "TCP_TCC_UC_WRITE_REQ", "TCP_TCC_UC_ATOMIC_REQ"]
OTHERS = ["GRBM_GUI_ACTIVE", "EaAtomicLatency", "EaRdLatency"]
# Bytes a second in each direction at the links' peaks, of which programs reach 0.8 to 0.9.
HOST, PEER = 31.5e9, 50e9
SMALL = 100  # requests of code, of arguments and of the packet


def values_of(crocprof, program):
    os.environ.update(CROCGPU_DEVICES="gfx90a*2", HSA_FORCE_FINE_GRAIN_PCIE="1")
    values = {}
    events = ",".join([name + "_sum" for name in SUMS] + OTHERS)
    with Profile(crocprof, ["--no-summary", "-e", events], [program]) as p:
        output = p.stdout
        for row in p.rows("counter_collection"):
            kernel = row["Kernel_Name"].split("::")[-1].split("(")[0]
            values.setdefault(kernel, {})[row["Counter_Name"].removesuffix("_sum")] = \
                float(row["Counter_Value"])
    return output, values


def about(checks, what, is_value, wanted, more=SMALL):
    checks.true("%s: %.0f, not %.0f" % (what, is_value, wanted), wanted <= is_value <= wanted + more)


def check_read(checks, kernel, v, kind, own, link):
    """A kernel that reads all lines, of which its L1s hold what they read again."""
    uncached = kind == "UC"
    about(checks, kernel + " reads", v["TCC_EA_RDREQ"], LINES)
    about(checks, kernel + " of its own", v["TCC_EA_RDREQ_DRAM"], LINES if own else 0)
    about(checks, kernel + " uncached", v["TCC_EA_RD_UNCACHED_32B"], 2 * LINES if uncached else 0, 0)
    for other in ("RW", "NC", "UC", "CC"):
        wanted = LINES if other == kind else 0
        about(checks, kernel + " " + other, v["TCP_TCC_%s_READ_REQ" % other], wanted, 0)
        wanted //= 2 if other == "RW" else 1  # two halves of a line in a row are one request
        requests = LINES // 2 if kind == "RW" else LINES
        more = v["TCC_REQ"] - requests if other in ("RW", "NC") else 0  # code; arguments
        about(checks, "%s TCC %s" % (kernel, other), v["TCC_%s_REQ" % other], wanted, more)
    stalls = {"IO": HOST, "GMI": PEER}
    for name, rate in stalls.items():
        stall = v["TCC_EA_RDREQ_%s_CREDIT_STALL" % name]
        checks.true("%s stalls %s" % (kernel, name), (stall > 0.9 * v["TCC_BUSY"]) == (link == rate))
        checks.true("%s no stall %s" % (kernel, name), link == rate or stall == 0)


def check_time(checks, kernel, v, rate):
    seconds = v["GRBM_GUI_ACTIVE"] / CLOCK_HZ
    part = LINES * 64 / seconds / rate
    print("%-16s %.2f of its link's peak" % (kernel, part))
    checks.true("%s: %.2f of its link's peak" % (kernel, part), 0.7 <= part <= 0.9)


def check_changes(checks, values):
    v = values["write_host"]
    checks.equal("writes", v["TCC_EA_WRREQ"], LINES)
    checks.equal("whole writes", v["TCC_EA_WRREQ_64B"], LINES)
    checks.equal("uncached writes", v["TCC_EA_WR_UNCACHED_32B"], LINES)
    checks.equal("writes of its own", v["TCC_EA_WRREQ_DRAM"], 0)
    checks.equal("writes are posted", v["TCC_EA_WRREQ_STALL"], 0)
    checks.equal("uncached requests", v["TCP_TCC_UC_WRITE_REQ"], LINES)
    v = values["add_host"]
    checks.equal("atomics", v["TCC_EA_ATOMIC"], ITEMS * 4 / 32)
    checks.equal("atomics are writes", v["TCC_EA_WRREQ"], ITEMS * 4 / 32)
    checks.equal("of 32 bytes", v["TCC_EA_WRREQ_64B"], 0)
    checks.equal("uncached atomics", v["TCC_EA_WR_UNCACHED_32B"], ITEMS * 4 / 32)
    checks.equal("atomic requests", v["TCP_TCC_UC_ATOMIC_REQ"], LINES)
    checks.true("their latency", v["EaAtomicLatency"] > 1000)
    for kernel, v in values.items():
        if kernel.startswith("read"):
            checks.equal(kernel + " adds nothing", v["EaAtomicLatency"], 0)


def main():
    checks = Checks()
    output, values = values_of(*sys.argv[1:3])
    checks.true("sums are right", "memory_types: ok" in output)
    kinds = {"read_own": ("RW", True, None), "read_own_fine": ("CC", True, None),
             "read_host": ("UC", False, HOST), "read_host_coarse": ("NC", False, HOST),
             "read_peer": ("NC", False, PEER), "read_peer_fine": ("UC", False, PEER)}
    for kernel, (kind, own, link) in kinds.items():
        check_read(checks, kernel, values[kernel], kind, own, link)
        if link:
            check_time(checks, kernel, values[kernel], link)
    check_time(checks, "write_host", values["write_host"], HOST)
    checks.true("memory elsewhere takes longer", values["read_host"]["EaRdLatency"] >
                values["read_own"]["EaRdLatency"] + 500)
    check_changes(checks, values)
    checks.exit()


main()
