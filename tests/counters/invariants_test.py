"""What must hold for counters whatever a program does: shares within a whole, sums, finite numbers, and
values that do not depend on what else is counted. The programs are random (tests/programs/mixture).

    invariants_test.py CROCPROF MIXTURE SEED...
"""
import collections
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crocprof"))
from crocprof_run import Checks, Profile  # noqa: E402

# An MI210, from its data sheet: 1638.4 GB/s at 1700 MHz.
UNITS, SIMDS, ENGINES, CHANNELS, PEAK_BYTES = 104, 416, 8, 32, 1638.4e9 / 1.7e9
PERCENT = re.compile(r"Util$|UTIL$|Rate$|Busy$|Percent$|Stalled|StallRate$|Hit$|^LDSBankConflict$|"
                     r"^Wave(Exec|DepWait|IssueWait)$|^VALUUtilization$|^ALUStalledByLDS$")
RATIOS = ["SerializedAtomicRatio", "SIMD_UTILIZATION"]
LESS_THAN = [  # a sum over instances, and how many of them there are
    ("GRBM_SPI_BUSY", 1), ("GRBM_TA_BUSY", 1), ("GRBM_TC_BUSY", 1), ("GRBM_EA_BUSY", 1),
    ("GRBM_CP_BUSY", 1), ("GRBM_UTCL2_BUSY", 1), ("TA_TA_BUSY", UNITS), ("TD_TD_BUSY", UNITS),
    ("TCP_GATE_EN1", UNITS), ("TCP_GATE_EN2", UNITS), ("SQ_BUSY_CYCLES", ENGINES),
    ("TCC_BUSY", CHANNELS), ("SQ_LDS_IDX_ACTIVE", UNITS), ("SQ_LDS_BANK_CONFLICT", UNITS),
    ("SQC_DCACHE_INPUT_VALID_READYB", UNITS / 2), ("SQ_VALU_MFMA_BUSY_CYCLES", SIMDS), ("SQ_BUSY_CU_CYCLES", UNITS / 4),
    ("SQ_WAVE_CYCLES", UNITS * 32 / 4), ("SQ_ACTIVE_INST_ANY", SIMDS / 4)]
PARTS = [  # a whole, and parts that are it together
    ("TCC_REQ", ["TCC_HIT", "TCC_MISS"]), ("TCC_REQ", ["TCC_READ", "TCC_WRITE", "TCC_ATOMIC"]),
    ("SQC_DCACHE_REQ", ["SQC_DCACHE_HITS", "SQC_DCACHE_MISSES",
                        "SQC_DCACHE_MISSES_DUPLICATE"]),
    ("SQC_ICACHE_REQ", ["SQC_ICACHE_HITS", "SQC_ICACHE_MISSES",
                        "SQC_ICACHE_MISSES_DUPLICATE"]),
    ("SQC_TC_REQ", ["SQC_TC_INST_REQ", "SQC_TC_DATA_READ_REQ", "SQC_TC_DATA_WRITE_REQ",
                    "SQC_TC_DATA_ATOMIC_REQ"]),
    ("TCP_UTCL1_REQUEST", ["TCP_UTCL1_TRANSLATION_HIT", "TCP_UTCL1_TRANSLATION_MISS"]),
    ("SQ_INSTS_VMEM", ["SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR"]),
    ("TCC_WRITEBACK", ["TCC_NORMAL_WRITEBACK", "TCC_ALL_TC_OP_WB_WRITEBACK"]),
    ("GRBM_COUNT", ["CPC_CPC_STAT_BUSY", "CPC_CPC_STAT_IDLE"]),
    ("GRBM_COUNT", ["CPF_CPF_STAT_BUSY", "CPF_CPF_STAT_IDLE"]),
    ("GRBM_COUNT", ["CPC_CPC_TCIU_BUSY", "CPC_CPC_TCIU_IDLE"]),
    ("GRBM_COUNT", ["CPC_CPC_UTCL2IU_BUSY", "CPC_CPC_UTCL2IU_IDLE"]),
    ("GRBM_COUNT", ["CPF_CPF_TCIU_BUSY", "CPF_CPF_TCIU_IDLE"]),
    ("TCC_EA_WRREQ", ["TCC_EA_WRREQ_DRAM"]),
    ("TCC_REQ", ["TCC_RW_REQ", "TCC_NC_REQ", "TCC_UC_REQ", "TCC_CC_REQ"])] + [
        ("TCP_TCC_%s_REQ" % kind, ["TCP_TCC_%s_%s_REQ" % (memory, kind)
                                   for memory in ("RW", "NC", "UC", "CC")])
        for kind in ("READ", "WRITE")]
REMOTE_READS = 8  # of a kernel's packet and arguments, which are the host's; as on an MI250
INSIDE = [  # stalls are parts of the time in which their unit is busy
    ("TCP_PENDING_STALL_CYCLES", "TCP_GATE_EN2"), ("TCP_TCR_TCP_STALL_CYCLES", "TCP_GATE_EN2"),
    ("TCP_ATOMIC_TAGCONFLICT_STALL_CYCLES", "TCP_GATE_EN2"), ("TCP_GATE_EN2", "TCP_GATE_EN1"),
    ("TD_TC_STALL", "TD_TD_BUSY"), ("TA_ADDR_STALLED_BY_TC_CYCLES", "TA_TA_BUSY"),
    ("TA_DATA_STALLED_BY_TC_CYCLES", "TA_TA_BUSY"), ("TCC_EA_WRREQ_STALL", "TCC_BUSY"),
    ("TCC_TAG_STALL", "TCC_BUSY"), ("SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"),
    ("TCP_READ_TAGCONFLICT_STALL_CYCLES", "TCP_GATE_EN2"),
    ("TCP_WRITE_TAGCONFLICT_STALL_CYCLES", "TCP_GATE_EN2"),
    ("TCP_TD_TCP_STALL_CYCLES", "TCP_GATE_EN2"), ("TD_SPI_STALL", "TD_TD_BUSY"),
    ("SQC_TC_STALL", "TCP_GATE_EN1"), ("CPC_UTCL1_STALL_ON_TRANSLATION", "CPC_CPC_STAT_STALL"),
    ("CPC_CPC_STAT_STALL", "CPC_CPC_STAT_BUSY"), ("CPF_CPF_STAT_STALL", "CPF_CPF_STAT_BUSY")]
ALONE = ["GRBM_COUNT", "GRBM_GUI_ACTIVE,SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_CYCLES,TCC_CYCLE",
         "SIMD_UTILIZATION", "TCC_BUSY,TCC_HIT", "VmemLatency", "GPUBusy,SQ_INSTS_VALU,TCC_REQ"]


def counters_of(crocprof):
    """Every counter of the first GPU, but those of the copy engines, which stand outside of kernels."""
    text = subprocess.run([crocprof, "list"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\w+)  ", text.split("\nAgent")[0], re.M)
    return [n for n in dict.fromkeys(names) if n not in ("counter", "computed") and
            not n.startswith("SDMA")]


def values(checks, crocprof, names, command):
    """{(dispatch, kernel): {counter: value}}"""
    kernels = collections.defaultdict(dict)
    with Profile(crocprof, ["--no-summary", "-e", names], command, timeout=600) as p:
        checks.equal("status with %.60s" % names, p.status, 0)
        for row in p.rows("counter_collection"):
            kernel = row["Kernel_Name"].split("::")[-1].split("(")[0]
            kernels[int(row["Dispatch_Id"]), kernel][row["Counter_Name"]] = \
                float(row["Counter_Value"])
    return kernels


def check_remote(checks, what, got):
    remote = got["TCC_EA_RDREQ"] - got["TCC_EA_RDREQ_DRAM"]
    checks.true("%s: %s remote reads" % (what, remote), 0 <= remote <= REMOTE_READS)


def check_kernel(checks, what, got):
    def at_most(name, value, limit):
        checks.true("%s: %s is %s, at most %s" % (what, name, value, limit),
                    0 <= value <= limit * (1 + 1e-9))
    for name, value in got.items():
        checks.true("%s: %s is %s" % (what, name, value), math.isfinite(value) and value >= 0)
        if PERCENT.search(name):
            at_most(name, value, 100)
        if name.endswith(("_sum", "_max")) and name[:-4] in got:
            if name.endswith("_sum"):
                checks.equal("%s: %s" % (what, name), value, got[name[:-4]])
            else:
                at_most(name, value, got[name[:-4]])
    for name in RATIOS:
        at_most(name, got[name], 1)
    active = got["GRBM_GUI_ACTIVE"]
    at_most("GRBM_GUI_ACTIVE", active, got["GRBM_COUNT"])
    for name, instances in LESS_THAN:
        at_most(name, got[name], instances * active)
    for whole, parts in PARTS:
        checks.equal("%s: %s" % (what, whole), sum(got[part] for part in parts), got[whole])
    for part, whole in INSIDE:
        at_most(part, got[part], got[whole])
    check_remote(checks, what, got)
    at_most("BANDWIDTH_EA", got["BANDWIDTH_EA"], PEAK_BYTES)
    waits = got["SQ_ACTIVE_INST_ANY"] + got["SQ_WAIT_ANY"] + got["SQ_WAIT_INST_ANY"]
    checks.true("%s: waves' cycles %s, parts %s" % (what, got["SQ_WAVE_CYCLES"], waits),
                abs(got["SQ_WAVE_CYCLES"] - waits) <= 3 * ENGINES)


def check_mechanisms(checks, seed, kernels):
    """Counters that a cause has are not constants."""
    by_name = {kernel: got for (_, kernel), got in kernels.items()}
    for name, counter in (("copy", "EaUtil"), ("atomics", "SerializedAtomicRatio"),
                          ("copy", "SQC_DCACHE_INFLIGHT_LEVEL_ACCUM"), ("copy", "EaRdLatency"),
                          ("copy", "EaWrLatency"), ("lds_strided", "LdsUtil"),
                          ("copy", "SQC_DCACHE_MISSES_DUPLICATE")):
        checks.true("seed %s: %s of %s" % (seed, counter, name), by_name[name][counter] > 0)
    for counter in ("EaRdLatency", "InstrFetchLatency", "SmemLatency", "VmemLatency"):
        checks.true("seed %s: %s differs between kernels" % (seed, counter),
                    len({got[counter] for got in by_name.values() if got[counter]}) > 1)
    checks.true("seed %s: units are busy for different times" % seed,
                any(len({got[name] for name in ("SpiUtil", "TaUtil", "TcUtil")}) == 3
                    for got in by_name.values()))


def main():
    crocprof, program, seeds = sys.argv[1], sys.argv[2], sys.argv[3:]
    checks, names = Checks(), counters_of(crocprof)
    checks.true("%d counters" % len(names), len(names) > 300)
    for seed in seeds:
        kernels = values(checks, crocprof, ",".join(names), [program, seed])
        checks.equal("seed %s: kernels" % seed, len(kernels), 11)
        for (_, kernel), got in kernels.items():
            checks.equal("seed %s: counters of %s" % (seed, kernel), len(got), len(names))
            check_kernel(checks, "seed %s: %s" % (seed, kernel), got)
        check_mechanisms(checks, seed, kernels)
        for few in ALONE:
            for key, got in values(checks, crocprof, few, [program, seed]).items():
                for name, value in got.items():
                    checks.equal("seed %s: %s of %s, counted with few others" % (seed, name, key[1]),
                                 value, kernels[key][name])
    checks.exit()


main()
