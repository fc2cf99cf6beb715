"""Every format says the same: one run writes them all, and each is held against the CSV files.

    formats_test.py CROCPROF PROGRAMS TRACE_PROTO
"""
import glob
import json
import os
import re
import subprocess
import sys

import rocpd_test
from crocprof_run import Checks, Profile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "perfetto"))
from decode import Trace  # noqa: E402

COUNTERS = ["SQ_WAVES", "SQ_INSTS_VALU"]
DOMAINS = {"kernel_trace": "KERNEL_DISPATCH", "memory_copy_trace": "MEMORY_COPY", "hip_api_trace": "HIP_API",
           "hsa_api_trace": "HSA_API", "marker_api_trace": "MARKER_API", "memory_allocation_trace": "MEMORY_ALLOCATION",
           "scratch_memory_trace": "SCRATCH_MEMORY"}


# Columns of rocprofv3's files, in its order.
API = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
STATS = "Name Calls TotalDurationNs AverageNs Percentage MinNs MaxNs StdDev"
SIZES = "Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z"
COLUMNS = {
    "hip_api_trace": API, "hsa_api_trace": API, "marker_api_trace": API,
    "kernel_trace": "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id "
                    "Start_Timestamp End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count "
                    + SIZES,
    # Not rocprofv3's: a file of our own, so that those above keep their columns.
    "modelled_time": "Agent_Id Process_Id Dispatch_Id Kernel_Name Modelled_Duration_Ns",
    "counter_collection": "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Id "
                          "Kernel_Name Workgroup_Size LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count "
                          "SGPR_Count Counter_Name Counter_Value Start_Timestamp End_Timestamp",
    "memory_copy_trace": "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id Correlation_Id "
                         "Start_Timestamp End_Timestamp",
    "memory_allocation_trace": "Kind Operation Agent_Id Allocation_Size Address Correlation_Id Start_Timestamp "
                               "End_Timestamp",
    "scratch_memory_trace": "Kind Operation Agent_Id Queue_Id Thread_Id Alloc_Flags Start_Timestamp End_Timestamp "
                            "Allocation_Size",
    "hip_api_stats": STATS, "hsa_api_stats": STATS, "kernel_stats": STATS, "memory_copy_stats": STATS,
    "memory_allocation_stats": STATS, "marker_api_stats": STATS, "scratch_memory_stats": STATS, "domain_stats": STATS,
    "agent_info":
        "Node_Id Logical_Node_Id Agent_Type Cpu_Cores_Count Simd_Count Cpu_Core_Id_Base Simd_Id_Base "
        "Max_Waves_Per_Simd Lds_Size_In_Kb Gds_Size_In_Kb Num_Gws Wave_Front_Size Num_Xcc Cu_Count Array_Count "
        "Num_Shader_Banks Simd_Arrays_Per_Engine Cu_Per_Simd_Array Simd_Per_Cu Max_Slots_Scratch_Cu "
        "Gfx_Target_Version Vendor_Id Device_Id Location_Id Domain Drm_Render_Minor Num_Sdma_Engines "
        "Num_Sdma_Xgmi_Engines Num_Sdma_Queues_Per_Engine Num_Cp_Queues Max_Engine_Clk_Ccompute "
        "Max_Engine_Clk_Fcompute Sdma_Fw_Version Fw_Version Capability Cu_Per_Engine Max_Waves_Per_Cu Family_Id "
        "Workgroup_Max_Size Grid_Max_Size Local_Mem_Size Hive_Id Gpu_Id Workgroup_Max_Dim_X Workgroup_Max_Dim_Y "
        "Workgroup_Max_Dim_Z Grid_Max_Dim_X Grid_Max_Dim_Y Grid_Max_Dim_Z Name Vendor_Name Product_Name Model_Name",
}

# What a value of a column looks like, as in the samples of rocprofv3's documentation; texts stand in quotation marks,
# whatever is not named is a whole number.
TEXT, AGENT = r'"(?:[^"]|"")*"', r'"(?:Agent \d+)?"'
STATISTIC = r"\d+\.\d{6}|\d\.\d{8}e[-+]\d\d"
FORMS = {
    "Domain": r'"[A-Z]+(?:_[A-Z]+)*"', "Kind": r'"[A-Z]+(?:_[A-Z]+)*"', "Function": TEXT, "Kernel_Name": TEXT,
    "Direction": r'"MEMORY_COPY_(?:HOST|DEVICE)_TO_(?:HOST|DEVICE)"', "Agent_Type": r'"[CG]PU"',
    "Operation": r'"(?:MEMORY_ALLOCATION|SCRATCH_MEMORY|KFD)_[A-Z_]+"', "Name": TEXT, "Counter_Name": r'"\w+"',
    "Vendor_Name": TEXT, "Product_Name": TEXT, "Model_Name": TEXT,
    "Agent_Id": AGENT, "Source_Agent_Id": AGENT, "Destination_Agent_Id": AGENT, "Address": r'"0x[0-9a-f]{16}"',
    "Logical_Node_Id": r"-?\d+",
    "Counter_Value": r"[1-9]\d*\.\d{6}|\d\.\d{8}e[-+]\d\d", "AverageNs": STATISTIC, "StdDev": STATISTIC,
    "Percentage": r"[1-9]\d*\.\d\d|0\.\d{4}|\d\.\d{3}e[-+]\d\d",
}


def check_forms(checks, path, table):
    """Every value as it stands in the file, before any reader of CSV has made something of it."""
    if table == "agent_info":
        columns = COLUMNS[table].replace(" Domain ", " domain ").split()  # a number there
    else:
        columns = COLUMNS[table].split()
    line = ",".join("(%s)" % FORMS.get(name, r"\d+") for name in columns) + "\n"
    with open(path, encoding="utf-8") as file:
        file.readline()
        rows = file.read()
    wrong = re.sub(line, "", rows)
    checks.equal("values of " + table, wrong[:300], "")


def only(paths):
    assert len(paths) == 1, paths
    return paths[0]


def file_of(place, ending):
    """The file itself, or the only one of a directory."""
    return place if os.path.isfile(place) else only(glob.glob(os.path.join(place, "*_results." + ending)))


class Results:
    """rocprofiler-sdk-tool's JSON, read as its users read it."""

    def __init__(self, place):
        def pairs(items):
            names = [name for name, _ in items]
            assert len(names) == len(set(names)), names
            return dict(items)
        with open(file_of(place, "json"), encoding="utf-8") as file:
            tool = json.load(file, object_pairs_hook=pairs)["rocprofiler-sdk-tool"]
        assert len(tool) == 1
        self.data = tool[0]
        self.buffers = self.data["buffer_records"]
        self.agents = {a["id"]["handle"]: a for a in self.data["agents"]}
        self.ranges = {m["key"]: m["value"] for m in self.data["strings"]["correlation_id"]["external"]}
        self.messages = {m["key"]: m["value"] for m in self.data["strings"]["marker_api"]}

    def names(self, record):
        kind = self.data["strings"]["buffer_records"][record["kind"]]
        return kind["kind"], kind["operations"][record["operation"]]

    def agent(self, record, name):
        handle = record[name]["handle"]
        return "Agent %d" % self.agents[handle]["logical_node_id"] if handle else ""

    def kernel(self, info):
        symbol = self.data["kernel_symbols"][info["kernel_id"]]
        assert symbol["kernel_id"] == info["kernel_id"]
        return symbol


def times(record):
    return record["start_timestamp"], record["end_timestamp"]


def integers(row, names):
    return tuple(int(row[name]) for name in names.split())


def csv_times(row):
    return integers(row, "Start_Timestamp End_Timestamp")


def same(checks, what, found, wanted, may_be_none=False):
    checks.true(what + ": there are some", may_be_none or len(wanted) > 0)
    checks.equal(what, sorted(found), sorted(wanted))


def check_csv(checks, p):
    """Returns the tables that there are."""
    tables = {}
    for path in glob.glob(os.path.join(p.directory, "*.csv")):
        with open(path, encoding="utf-8") as file:
            tables[os.path.basename(path).split("_", 1)[1][:-4]] = file.readline().rstrip("\n")
    for table, header in tables.items():
        checks.equal("columns of " + table, header,
                     ",".join('"%s"' % name for name in COLUMNS.get(table, "unexpected").split()))
        check_forms(checks, only(glob.glob(os.path.join(p.directory, "*_%s.csv" % table))), table)
    for table, domain in DOMAINS.items():
        rows = p.rows(table)
        stats = p.rows(table.replace("_trace", "_stats"))
        all_of = [r for r in p.rows("domain_stats") if r["Name"] == domain]
        checks.equal("calls in statistics of " + table,
                     (sum(int(r["Calls"]) for r in stats), sum(int(r["Calls"]) for r in all_of)), (len(rows), len(rows)))
        checks.equal("time in statistics of " + table, sum(int(r["TotalDurationNs"]) for r in stats),
                     sum(end - begin for begin, end in map(csv_times, rows)))
    return set(tables)


def check_json_calls(checks, p, results):
    for table, section in (("hip_api_trace", "hip_api"), ("hsa_api_trace", "hsa_api")):
        same(checks, "json, " + section,
             [(*results.names(r), r["thread_id"], r["correlation_id"]["internal"], *times(r))
              for r in results.buffers[section]],
             [(r["Domain"], r["Function"], *integers(r, "Thread_Id Correlation_Id"), *csv_times(r))
              for r in p.rows(table)], may_be_none=True)
    same(checks, "json, markers",
         [(results.messages[r["correlation_id"]["internal"]], r["thread_id"], *times(r))
          for r in results.buffers["marker_api"]],
         [(r["Function"], int(r["Thread_Id"]), *csv_times(r)) for r in p.rows("marker_api_trace")], may_be_none=True)
    for record in results.buffers["marker_api"]:
        kind, operation = results.names(record)
        is_moment = record["start_timestamp"] == record["end_timestamp"]
        checks.equal("json, kind of marker", (kind, operation),
                     ("MARKER_CORE_RANGE_API", "roctxMarkA" if is_moment else "roctxThreadRangeA"))


def lds_given(size):
    """What rocprofv3's CSV files say of LDS: whole blocks of 512 bytes."""
    return -(-size // 512) * 512


def dispatch(results, info, correlation_id):
    symbol = results.kernel(info)
    name = results.ranges.get(correlation_id["external"], symbol["formatted_kernel_name"])
    return (results.agent(info, "agent_id"), info["queue_id"]["handle"], info["dispatch_id"], info["kernel_id"],
            name, lds_given(info["group_segment_size"]), info["private_segment_size"],
            symbol["arch_vgpr_count"], symbol["accum_vgpr_count"], symbol["sgpr_count"])


def check_json_kernels(checks, p, results):
    def sizes(info):
        return tuple(info[what + "_size"][axis] for what in ("workgroup", "grid") for axis in "xyz")
    same(checks, "json, kernels",
         [(*dispatch(results, r["dispatch_info"], r["correlation_id"]), *sizes(r["dispatch_info"]), r["thread_id"],
           r["stream_id"]["handle"], r["correlation_id"]["internal"], results.names(r), *times(r))
          for r in results.buffers["kernel_dispatch"]],
         [(r["Agent_Id"], *integers(r, "Queue_Id Dispatch_Id Kernel_Id"), r["Kernel_Name"],
           *integers(r, "LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count Workgroup_Size_X "
                     "Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z Thread_Id Stream_Id "
                     "Correlation_Id"), ("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE"), *csv_times(r))
          for r in p.rows("kernel_trace")], may_be_none=True)


def check_json_counters(checks, p, results):
    counters = {c["id"]["handle"]: c for c in results.data["counters"]}
    found = []
    for record in results.data["callback_records"]["counter_collection"]:
        info = record["dispatch_data"]["dispatch_info"]
        grid, group = info["grid_size"], info["workgroup_size"]
        kernel = results.kernel(info)
        checks.equal("json, registers and blocks of LDS that rocprofv3's schema has beside the counters",
                     [record[key] for key in ("arch_vgpr_count", "sgpr_count", "lds_block_size_v")],
                     [kernel["arch_vgpr_count"], kernel["sgpr_count"], -(-info["group_segment_size"] // 512) * 512])
        for value in record["records"]:
            counter = counters[value["counter_id"]["handle"]]
            checks.true("json, a counter says what it is: %r" % counter, counter["description"] and counter["block"])
            found.append((*dispatch(results, info, record["dispatch_data"]["correlation_id"]), grid["x"] * grid["y"] * grid["z"],
                          group["x"] * group["y"] * group["z"], record["thread_id"], counter["name"], value["value"],
                          record["dispatch_data"]["correlation_id"]["internal"], *times(record["dispatch_data"])))
    same(checks, "json, counters", found,
         [(r["Agent_Id"], *integers(r, "Queue_Id Dispatch_Id Kernel_Id"), r["Kernel_Name"],
           *integers(r, "LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count Grid_Size Workgroup_Size "
                     "Thread_Id"), r["Counter_Name"], float(r["Counter_Value"]), int(r["Correlation_Id"]),
           *csv_times(r)) for r in p.rows("counter_collection")], may_be_none=True)


def check_json_memory(checks, p, results):
    same(checks, "json, copies",
         [(*results.names(r), r["stream_id"]["handle"], results.agent(r, "src_agent_id"),
           results.agent(r, "dst_agent_id"), r["correlation_id"]["internal"], *times(r))
          for r in results.buffers["memory_copy"]],
         [(r["Kind"], r["Direction"], int(r["Stream_Id"]), r["Source_Agent_Id"], r["Destination_Agent_Id"],
           int(r["Correlation_Id"]), *csv_times(r)) for r in p.rows("memory_copy_trace")], may_be_none=True)
    same(checks, "json, allocations",
         [(*results.names(r), results.agent(r, "agent_id"), r["allocation_size"], r["address"],
           r["correlation_id"]["internal"], *times(r)) for r in results.buffers["memory_allocation"]],
         [(r["Kind"], r["Operation"], r["Agent_Id"], int(r["Allocation_Size"]), r["Address"],
           int(r["Correlation_Id"]), *csv_times(r)) for r in p.rows("memory_allocation_trace")], may_be_none=True)
    same(checks, "json, scratch memory",
         [(*results.names(r), results.agent(r, "agent_id"), r["queue_id"]["handle"], r["thread_id"],
           r["allocation_size"], *times(r)) for r in results.buffers["scratch_memory"]],
         [(r["Kind"], r["Operation"], r["Agent_Id"], *integers(r, "Queue_Id Thread_Id Allocation_Size"), *csv_times(r))
          for r in p.rows("scratch_memory_trace")], may_be_none=True)


def check_json_info(checks, p, results):
    data = results.data
    same(checks, "json, agents",
         [(a["node_id"], a["logical_node_id"], a["type"], a["name"], a["cu_count"], a["wave_front_size"],
           a["workgroup_max_dim"]["x"], a["grid_max_dim"]["z"]) for a in data["agents"]],
         [(*integers(r, "Node_Id Logical_Node_Id"), {"CPU": 1, "GPU": 2}[r["Agent_Type"]], r["Name"],
           *integers(r, "Cu_Count Wave_Front_Size Workgroup_Max_Dim_X Grid_Max_Dim_Z")) for r in p.rows("agent_info")])
    metadata = data["metadata"]
    checks.equal("json, command", metadata["command"], p.command)
    checks.true("json, times", 0 < metadata["init_time"] <= metadata["fini_time"])
    checks.equal("json, host", metadata["node"]["hostname"], os.uname().nodename)
    checks.true("json, config", metadata["config"].get("kernel_trace") in ("1", "true"))
    for place, symbol in enumerate(data["kernel_symbols"]):
        checks.equal("json, a kernel's place", symbol["kernel_id"], place)
        if symbol["kernel_object"]:
            code = data["code_objects"][symbol["code_object_id"]]
            checks.true("json, code object: %r" % code, code["code_object_id"] == symbol["code_object_id"] and
                        "://" in code["uri"] and code["load_size"] > 0)
    summary = {s["domain"]: s["stats"] for s in data["summary"]}
    for table, domain in DOMAINS.items():
        rows = p.rows(table)
        if rows:
            durations = [end - start for start, end in map(csv_times, rows)]
            stats = summary[domain]
            checks.equal("json, summary of " + domain, [stats[k] for k in ("count", "sum", "min", "max")],
                         [len(rows), sum(durations), min(durations), max(durations)])
            checks.equal("json, operations of " + domain, sum(o["value"]["count"] for o in stats["operations"]),
                         len(rows))
    checks.equal("json, domains", sorted(summary), sorted(d for t, d in DOMAINS.items() if p.rows(t)))


def check_json(checks, p):
    results = Results(p.directory)
    check_json_calls(checks, p, results)
    check_json_kernels(checks, p, results)
    check_json_counters(checks, p, results)
    check_json_memory(checks, p, results)
    check_json_info(checks, p, results)
    return results


PFTRACE_NOTES = {"dispatch_id": "Dispatch_Id", "kernel_id": "Kernel_Id", "stream_id": "Stream_Id",
                 "lds_bytes": "LDS_Block_Size", "scratch_bytes": "Scratch_Size",
                 **{"%s_size_%s" % (what, axis.lower()): "%s_Size_%s" % (what.title(), axis)
                    for what in ("grid", "workgroup") for axis in "XYZ"}}


def staircase(steps):
    """[(time, change)] -> [(time, value)]: what a counter's track says, the last value of each time."""
    value, out = 0, {}
    for time, change in sorted(steps):
        value += change
        out[time] = value
    return sorted(out.items())


def last_of_each_time(values):
    return sorted({time: value for time, value in values}.items())


def pftrace_notes(trace):
    return [s["notes"] for s in trace.slices if s["category"] == "kernel_dispatch"]


def check_pftrace(checks, p, proto):
    trace = Trace(only(glob.glob(os.path.join(p.directory, "*_results.pftrace"))), proto)
    checks.equal("pftrace, nothing is left open", trace.unfinished, [])
    for category, table, name in (*OTF2_TABLES, ("kfd", "kfd_trace", "Operation")):
        shown = [(s["name"], s["begin"], s["begin"] if s["end"] is None else s["end"])
                 for s in trace.slices + trace.instants if s["category"] == category]
        same(checks, "pftrace, " + category, shown, [(r[name], *csv_times(r)) for r in p.rows(table)], may_be_none=True)
    same(checks, "pftrace, what is shown with kernels",
         [sorted((key, lds_given(value) if key == "lds_bytes" else value) for key, value in notes.items()
                 if key != "modelled_ns") for notes in pftrace_notes(trace)],
         [sorted((note, int(r[column])) for note, column in PFTRACE_NOTES.items()) for r in p.rows("kernel_trace")],
         may_be_none=True)
    calls = {int(r["Correlation_Id"]): r["Function"] for r in p.rows("hip_api_trace")}
    for table, name in (("kernel_trace", "Kernel_Name"), ("memory_copy_trace", "Direction")):
        for row in p.rows(table):
            number = int(row["Correlation_Id"])
            checks.true("pftrace, an arrow leads to %s: %r" % (row[name], trace.flows.get(number)),
                        row[name] in trace.flows.get(number, []) and
                        (number not in calls or trace.flows[number][0] == calls[number]))
    expected = []
    for r in p.rows("counter_collection"):
        track = "Agent [%s] PMC %s" % (r["Agent_Id"][6:], r["Counter_Name"])
        expected += [(track, int(r["Start_Timestamp"]), float(r["Counter_Value"])), (track, int(r["End_Timestamp"]), 0)]
    same(checks, "pftrace, counters", [v for v in trace.values if " PMC " in v[0]], expected, may_be_none=True)
    check_pftrace_memory(checks, p, trace)
    names = {t["tid"]: t["name"] for t in trace.tracks.values() if t["tid"]}
    checks.true("pftrace, threads have names: %r" % names, set(names.values()) <= {os.path.basename(p.command[0])} and names)


def check_pftrace_memory(checks, p, trace):
    blocks, steps = {}, {}
    for r in sorted(p.rows("memory_allocation_trace"), key=lambda r: int(r["End_Timestamp"])):
        end, address = int(r["End_Timestamp"]), r["Address"]
        agent, size = (r["Agent_Id"], int(r["Allocation_Size"])) if r["Agent_Id"] else blocks.pop(address, (None, 0))
        if r["Agent_Id"]:
            blocks[address] = agent, size
        if agent:
            steps.setdefault(agent[6:], []).append((end, size if r["Agent_Id"] else -size))
    for agent, changes in steps.items():
        name = "Allocated bytes on agent [%s]" % agent
        checks.equal("pftrace, " + name, last_of_each_time(v[1:] for v in trace.values if v[0] == name), staircase(changes))
    for agent in {r["Destination_Agent_Id"] for r in p.rows("memory_copy_trace")}:
        name = "Copy bytes to agent [%s]" % agent[6:]
        values = [v[1:] for v in trace.values if v[0] == name]
        ends = sorted(t for r in p.rows("memory_copy_trace") if r["Destination_Agent_Id"] == agent for t in csv_times(r))
        checks.equal("pftrace, when copies begin and end", sorted(t for t, _ in values), ends)
        checks.true("pftrace, bytes of copies: %r" % values, values[-1][1] == 0 and all(v > 0 for _, v in values[0::2]))


def check_kfd(checks, p):
    """Shared memory that goes to the GPU and back, and is freed, in every format."""
    address, size = re.search(r"prefetch: (0x[0-9a-f]+) (\d+)", p.stdout).groups()
    begin, end = int(address, 16), int(address, 16) + int(size)
    moves = [("KFD_PAGE_MIGRATE", "KFD_PAGE_MIGRATE_PREFETCH", a, b, begin, end) for a, b in ((0, 1), (1, 0))]
    *rows, freed = p.rows("kfd_trace")
    gone = ("KFD_EVENT_UNMAP_FROM_GPU", "KFD_EVENT_UNMAP_FROM_GPU_UNMAP_FROM_CPU", 1, begin, end)
    checks.equal("csv, pages that are freed", (freed["Kind"], freed["Operation"], int(freed["Agent_Id"][6:]),
                                               int(freed["Start_Address"], 16), int(freed["End_Address"], 16)), gone)
    checks.equal("csv, pages that moved",
                 [(r["Kind"], r["Operation"], int(r["Source_Agent_Id"][6:]), int(r["Destination_Agent_Id"][6:]),
                   int(r["Start_Address"], 16), int(r["End_Address"], 16)) for r in rows], moves)
    spans = [csv_times(r) for r in rows]
    checks.true("they take time: %r" % spans, all(a < b for a, b in spans) and spans == sorted(spans))
    results = Results(p.directory)
    nodes = {handle: a["node_id"] for handle, a in results.agents.items()}
    *found, left = results.buffers["kfd"]
    checks.equal("json, pages that are freed", (*results.names(left), nodes[left["agent_id"]["handle"]],
                                                left["start_address"]["handle"], left["end_address"]["handle"]), gone)
    checks.equal("json, when they are", times(left), csv_times(freed))
    checks.equal("json, pages that moved",
                 [(*results.names(r), nodes[r["src_agent"]["handle"]], nodes[r["dst_agent"]["handle"]],
                   r["start_address"]["handle"], r["end_address"]["handle"]) for r in found], moves)
    checks.equal("json, when", [times(r) for r in found], spans)
    *database, last = p.query("SELECT category, name, extdata, start, \"end\", tid FROM regions WHERE category LIKE 'KFD%' "
                              "ORDER BY start")
    checks.equal("rocpd, pages that are freed", (last[0], last[1], last[3:5]), (gone[0], gone[1], csv_times(freed)))
    data = [json.loads(r[2])["kfd"] for r in database]
    checks.equal("rocpd, pages that moved",
                 [(r[0], r[1], int(d["src_agent_id"]), int(d["dst_agent_id"]), int(d["start_address"]),
                   int(d["end_address"])) for r, d in zip(database, data)], moves)
    checks.equal("rocpd, when", [r[3:5] for r in database], spans)
    archive = Archive(p.directory)
    checks.equal("otf2, what is wrong", archive.problems, [])
    checks.equal("otf2, pages that moved", [(s["name"], s["begin"], s["end"]) for s in archive.slices
                                            if s["category"] == "kfd"],
                 [(moves[0][1], *span) for span in spans] + [(gone[1], *csv_times(freed))])


class Archive:
    """An OTF2 archive as otf2-print shows it: slices and values of metrics."""
    EVENT = re.compile(r'(ENTER|LEAVE|METRIC) +(\d+) +(\d+)  (?:Region|Metric): (.*)', re.S)
    LINE = re.compile(r'(?:^|\n)(?=[A-Z_]+ +\d+ +\d+  | +ADDITIONAL ATTRIBUTES|[A-Z_]+ +\d+  Name: |$)')
    TEXT = r'"((?:[^"]|"(?! <))*)" <\d+>'

    def __init__(self, place):
        path = file_of(place, "otf2")
        self.slices, self.values, self.problems = [], [], []
        stacks, last, entered = {}, {}, None
        shown = subprocess.run(["otf2-print", path], capture_output=True, timeout=100)
        self.problems += shown.stderr.decode().splitlines()
        for line in self.LINE.split(shown.stdout.decode("utf-8", "replace")):  # names may have newlines
            event = self.EVENT.match(line)
            if event:
                kind, location, time, rest = event[1], int(event[2]), int(event[3]), event[4]
                if time < last.get(location, 0):
                    self.problems.append("time goes back: " + line)
                last[location] = time
                if kind == "METRIC":
                    name, value = re.search(r'\("(.*)" <\d+>; DOUBLE; (.*)\)', rest).groups()
                    self.values.append((name, float(value), time))
                    continue
                name = re.fullmatch(self.TEXT, rest)[1]
                if kind == "ENTER":
                    entered = {"name": name, "begin": time, "location": location}
                    stacks.setdefault(location, []).append(entered)
                else:
                    begun = stacks[location].pop()
                    if begun["name"] != name:
                        self.problems.append("does not nest: " + line)
                    self.slices.append({**begun, "end": time})
            elif entered is not None and "ADDITIONAL ATTRIBUTES" in line:
                entered["category"] = re.search(r'\("category" <\d+>; STRING; "(\w+)"', line)[1]
                for key, value in re.findall(r'\("(\w+)" <\d+>; UINT64; (\d+)\)', line):
                    entered[key] = int(value)
        self.problems += ["is left open: %r" % s for s in stacks.values() if s]
        names = subprocess.run(["otf2-print", "-G", path], capture_output=True, text=True, timeout=100).stdout
        self.locations = {int(number): name for number, name in re.findall(r'LOCATION +(\d+)  Name: ' + self.TEXT, names)}


OTF2_TABLES = (("kernel_dispatch", "kernel_trace", "Kernel_Name"), ("hip_api", "hip_api_trace", "Function"),
               ("hsa_api", "hsa_api_trace", "Function"), ("marker_api", "marker_api_trace", "Function"),
               ("memory_copy", "memory_copy_trace", "Direction"), ("scratch_memory", "scratch_memory_trace", "Operation"),
               ("memory_allocation", "memory_allocation_trace", "Operation"))


def check_otf2(checks, p):
    archive = Archive(p.directory)
    checks.equal("otf2, what is wrong", archive.problems, [])
    for category, table, name in OTF2_TABLES:
        rows = p.rows(table)
        has_id = rows and "Correlation_Id" in rows[0]
        same(checks, "otf2, " + category,
             [(s["name"], s["begin"], s["end"], s["correlation_id"] if has_id else 0)
              for s in archive.slices if s["category"] == category],
             [(r[name], *csv_times(r), int(r["Correlation_Id"]) if has_id else 0) for r in rows], may_be_none=True)
    same(checks, "otf2, dispatches", [s["dispatch_id"] for s in archive.slices if s["category"] == "kernel_dispatch"],
         [int(r["Dispatch_Id"]) for r in p.rows("kernel_trace")])
    same(checks, "otf2, allocations", [s["bytes"] for s in archive.slices if s["category"] == "memory_allocation"],
         [int(r["Allocation_Size"]) for r in p.rows("memory_allocation_trace")])
    same(checks, "otf2, counters", archive.values,
         [(r["Counter_Name"], float(r["Counter_Value"]), int(r["End_Timestamp"]))
          for r in p.rows("counter_collection")], may_be_none=True)
    threads = {archive.locations[s["location"]].split()[1] for s in archive.slices if s["category"] == "hip_api"}
    checks.equal("otf2, threads", threads, {r["Thread_Id"] for r in p.rows("hip_api_trace")})
    queues = {archive.locations[s["location"]] for s in archive.slices if s["category"] == "kernel_dispatch"}
    checks.equal("otf2, queues", {q.split(" (")[0] for q in queues},
                 {"%s queue %s" % (r["Agent_Id"], r["Queue_Id"]) for r in p.rows("kernel_trace")})
    checks.equal("otf2, nothing else is left", [f for f in os.listdir(p.directory) if f.endswith(".part")], [])


def table_of(text, unit):
    """{kernel: (calls, modelled)} of a table of kernels, in its order."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if line.endswith(" kernel") and "modelled " + unit in line]
    cells = [line.split(None, 8) for line in lines[heads[0] + 1:]] if heads else []
    return {c[8]: (int(c[0]), float(c[1])) for c in cells[:([len(c) for c in cells] + [0]).index(0)]}


def check_modelled(checks, p, results, crocprof, proto):
    """What the software GPU says that kernels take: of each launch, and in the tables of all commands."""
    rows = [(int(r["Dispatch_Id"]), r["Kernel_Name"], int(r["Modelled_Duration_Ns"])) for r in p.rows("modelled_time")]
    same(checks, "csv, every kernel has a modelled time", [r[:2] for r in rows],
         [(int(r["Dispatch_Id"]), r["Kernel_Name"]) for r in p.rows("kernel_trace")])
    checks.true("it is one: %r" % rows, all(r[2] > 0 for r in rows))
    same(checks, "json, modelled times", [(r["dispatch_info"]["dispatch_id"], r["modelled_ns"])
                                          for r in results.buffers["kernel_dispatch"]], [(r[0], r[2]) for r in rows])
    same(checks, "otf2, modelled times", [(s["dispatch_id"], s.get("modelled_ns")) for s in Archive(p.directory).slices
                                          if s["category"] == "kernel_dispatch"], [(r[0], r[2]) for r in rows])
    same(checks, "pftrace, modelled times", [(n["dispatch_id"], n.get("modelled_ns")) for n in pftrace_notes(
        Trace(only(glob.glob(os.path.join(p.directory, "*_results.pftrace"))), proto))],
         [(r[0], r[2]) for r in rows])
    same(checks, "rocpd, modelled times", p.query("SELECT dispatch_id, json_extract(extdata, '$.modelled_ns') FROM "
                                                  "rocpd_kernel_dispatch"), [(r[0], r[2]) for r in rows])
    sums = {}
    for _, name, modelled in rows:
        calls, total = sums.get(name, (0, 0))
        sums[name] = (calls + 1, total + modelled)
    ranked = sorted(sums, key=lambda name: (-sums[name][1], name))
    database = only(glob.glob(os.path.join(p.directory, "*_results.db")))

    def say(*words):
        run = subprocess.run([crocprof, *words], capture_output=True, text=True, timeout=60)
        return run.stdout + run.stderr
    shown = table_of(say("report", "--summary-units", "nsec", database), "ns")
    checks.equal("report, modelled times", shown, sums)
    checks.equal("report, ranked", list(shown), ranked)
    compared = [line.split(",") for line in say("diff", "--all", "--format", "csv", database, database).splitlines()]
    found = sorted((int(c[1]), float(c[3]), float(c[4])) for c in compared if c[0].strip('"') == "modelled")
    means = sorted((calls, total / calls, total / calls) for calls, total in sums.values())
    checks.true("diff, modelled times: %r, not %r" % (found, means), len(found) == len(means) and all(
        abs(a - b) <= 1e-5 * b for x, y in zip(found, means) for a, b in zip(x, y)))
    converted = os.path.join(p.directory, "again")
    told = say("convert", "-f", "csv", "-d", converted, database)
    paths = glob.glob(os.path.join(converted, "**", "*modelled_time.csv"), recursive=True)
    checks.equal("convert, a file of modelled times: " + told, len(paths), 1)
    with open(paths[0], encoding="utf-8") as file:
        again = sorted(int(line.rsplit(",", 1)[1]) for line in file.read().splitlines()[1:])
    checks.equal("convert, modelled times", again, sorted(r[2] for r in rows))


def check_rocpd(checks, p):
    rocpd_test.check_calls(checks, p)
    rocpd_test.check_kernels(checks, p)
    checks.equal("rocpd, copies", sorted(p.query("SELECT name, start, \"end\", size > 0 FROM memory_copies")),
                 sorted((r["Direction"], *csv_times(r), 1) for r in p.rows("memory_copy_trace")))
    checks.equal("rocpd, allocations", sorted(p.query("SELECT size, address, start, \"end\" FROM memory_allocations")),
                 sorted((int(r["Allocation_Size"]), int(r["Address"], 16), *csv_times(r))
                        for r in p.rows("memory_allocation_trace")))
    checks.equal("rocpd, counters", sorted(p.query("SELECT dispatch_id, counter_name, value FROM counters_collection")),
                 sorted((int(r["Dispatch_Id"]), r["Counter_Name"], float(r["Counter_Value"]))
                        for r in p.rows("counter_collection")))


def main():
    crocprof, programs, proto = sys.argv[1:4]
    checks = Checks()
    everything = ["-f", "csv,json,rocpd,pftrace,otf2", "--sys-trace", "--stats", "--no-summary"]
    found, tables = set(), set()
    for options, command in ((["--pmc", ",".join(COUNTERS)], ["endings", "200", "3", "return"]),
                             ([], ["private_memory"]), (["--kernel-rename"], ["markers"])):
        with Profile(crocprof, [*everything, *options], [os.path.join(programs, command[0]), *command[1:]]) as p:
            p.command = [os.path.join(programs, command[0]), *command[1:]]
            checks.true("%s: %s" % (command[0], p.stderr), p.rows("kernel_trace"))
            tables |= check_csv(checks, p)
            results = check_json(checks, p)
            check_otf2(checks, p)
            check_pftrace(checks, p, proto)
            check_rocpd(checks, p)
            check_modelled(checks, p, results, crocprof, proto)
            found |= {name for name, rows in results.buffers.items() if rows}
            found |= {name for name, rows in results.data["callback_records"].items() if rows}
    with Profile(crocprof, ["-f", "csv,json,rocpd,pftrace,otf2", "--kfd-trace", "--no-summary"],
                 [os.path.join(programs, "prefetch")]) as p:
        check_kfd(checks, p)
        p.command = ["prefetch"]
        check_pftrace(checks, p, proto)
    checks.true("every kind of record: %r" % found, found >= {
        "kernel_dispatch", "hip_api", "hsa_api", "marker_api", "memory_copy", "memory_allocation",
        "counter_collection"})
    checks.equal("every file", sorted(set(COLUMNS) - tables - {"scratch_memory_trace", "scratch_memory_stats"}), [])
    checks.exit()


if __name__ == "__main__":
    main()
