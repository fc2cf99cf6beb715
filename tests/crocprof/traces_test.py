"""What the files hold: columns, order in time, relation of calls to the work they cause.

    traces_test.py CROCPROF PROGRAMS
"""
import os
import sys

from crocprof_run import Checks, Profile

LAUNCHES, COPIES = 10, 3
KERNEL_COLUMNS = (
    "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
    "Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,"
    "SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,"
    "Grid_Size_Z").split(",")
API_COLUMNS = ("Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,"
               "End_Timestamp").split(",")


def times(row):
    return int(row["Start_Timestamp"]), int(row["End_Timestamp"])


def check_kernels(checks, kernels):
    checks.equal("kernels", len(kernels), LAUNCHES)
    checks.equal("kernel columns", list(kernels[0]) if kernels else [], KERNEL_COLUMNS)
    last_end = 0
    for row in sorted(kernels, key=lambda r: int(r["Dispatch_Id"])):
        start, end = times(row)
        checks.true("a kernel has a duration", start < end)
        checks.true("kernels of one stream do not overlap", last_end <= start)
        last_end = end
        checks.true("demangled name: " + row["Kernel_Name"],
                    row["Kernel_Name"].startswith("add_one(unsigned int*, unsigned long)"))
        checks.equal("work-group", row["Workgroup_Size_X"], "64")
        checks.equal("grid", row["Grid_Size_X"], "4096")


def check_calls(checks, calls, kernels, copies):
    checks.equal("API columns", list(calls[0]) if calls else [], API_COLUMNS)
    count = {}
    for row in calls:
        count[row["Function"]] = count.get(row["Function"], 0) + 1
        start, end = times(row)
        checks.true("a call has a duration", start <= end)
    checks.equal("launch calls", count.get("hipLaunchKernel"), LAUNCHES)
    checks.equal("copy calls", count.get("hipMemcpy"), COPIES)
    by_id = {row["Correlation_Id"]: row for row in calls}
    checks.equal("correlation ids are unique", len(by_id), len(calls))
    for row in kernels:
        call = by_id.get(row["Correlation_Id"])
        checks.true("a kernel's correlation id is its launch's",
                    call is not None and call["Function"] == "hipLaunchKernel")
        if call:
            checks.true("a kernel starts after its launch was called",
                        times(call)[0] <= times(row)[0])
    for row in copies:
        call = by_id.get(row["Correlation_Id"])
        checks.true("a copy's correlation id is its call's",
                    call is not None and call["Function"].startswith("hipMem"))


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    command = [os.path.join(programs, "endings"), str(LAUNCHES), str(COPIES), "return"]
    with Profile(crocprof, ["--stats"], command) as p:
        checks.equal("status", p.status, 23)
        kernels, copies = p.rows("kernel_trace"), p.rows("memory_copy_trace")
        check_kernels(checks, kernels)
        check_calls(checks, p.rows("hip_api_trace"), kernels, copies)
        stats = [r for r in p.rows("kernel_stats") if r["Name"].startswith("add_one")]
        checks.equal("stats calls", [r["Calls"] for r in stats], [str(LAUNCHES)])
        total = sum(times(r)[1] - times(r)[0] for r in kernels)
        checks.equal("stats total", [r["TotalDurationNs"] for r in stats], [str(total)])
        checks.true("the summary names the kernel", "add_one" in p.stderr)
        checks.true("the software GPU is announced",
                    os.path.exists("/dev/kfd") or "software GPU" in p.stderr)
        checks.true("agents", {"CPU", "GPU"} <= {r["Agent_Type"] for r in p.rows("agent_info")})
        same = p.query("SELECT count(*), sum(duration) FROM kernels")
        checks.equal("the database agrees", same, [(LAUNCHES, total)])
    with Profile(crocprof, ["--memory-allocation-trace"], command) as p:
        rows = p.rows("memory_allocation_trace")
        made = [r for r in rows if r["Operation"] == "MEMORY_ALLOCATION_ALLOCATE"]
        # hipMalloc of 4096 items of 4 bytes
        checks.true("the program's allocation on the GPU",
                    any(int(r["Allocation_Size"]) >= 16384 and r["Agent_Id"] == "Agent 1"
                        for r in made))
        checks.true("allocations have addresses", all(int(r["Address"], 16) for r in made))
    with Profile(crocprof, ["--no-kernel-trace", "--no-memory-copy-trace", "--no-hip-trace"],
                 command) as p:
        checks.equal("nothing asked: kernels", p.rows("kernel_trace"), [])
        checks.equal("nothing asked: calls", p.rows("hip_api_trace"), [])
    # HIP 5.2 never ends such a stream while somebody has registered with its callbacks.
    with Profile(crocprof, ["--no-hip-trace", "--no-marker-trace"],
                 [os.path.join(programs, "stream_callback")], timeout=60) as p:
        checks.equal("kernels alone: status", p.status, 0)
        checks.equal("kernels alone", [r["Kernel_Name"] for r in p.rows("kernel_trace")],
                     ["store(int*)"])
    checks.exit()


if __name__ == "__main__":
    main()
