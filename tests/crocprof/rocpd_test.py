"""The rocpd database: its schema, and the same numbers as in the CSV files of the same run.

    rocpd_test.py CROCPROF PROGRAMS SCHEMA
"""
import os
import sys
import uuid

from crocprof_run import Checks, Profile

COUNTERS = ["SQ_WAVES", "SQ_INSTS_VALU"]


def schema_read(path):
    """({table: columns in order}, {view: columns in order})"""
    tables, views = {}, {}
    with open(path, encoding="utf-8") as file:
        for words in (line.split() for line in file):
            if words[:1] == ["column"]:
                tables.setdefault(words[1], []).append(words[2])
            elif words[:1] == ["view"]:
                views[words[1]] = words[2:]
    return tables, views


def check_schema(checks, p, path):
    tables, views = schema_read(path)
    meta = dict(p.query("SELECT tag, value FROM rocpd_metadata"))
    checks.equal("version", meta.get("schema_version"), "3")
    checks.equal("the guid's version", uuid.UUID(meta["guid"]).version, 7)
    checks.equal("suffix", meta["uuid"], "_" + meta["guid"].replace("-", "_"))
    suffixed = [name for name, in p.query("SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                          "name LIKE 'rocpd_%'")]
    checks.equal("tables", sorted(suffixed), sorted(name + meta["uuid"] for name in tables))
    checks.equal("20 of them", len(suffixed), 20)
    of_views = {name for name, in p.query("SELECT name FROM sqlite_master WHERE type = 'view'")}
    checks.true("views: %r" % of_views, set(tables) < of_views and len(of_views) == 20 + 18 + 3)
    for name in tables:
        columns = [c for c, in p.query("SELECT name FROM pragma_table_info('%s')" % name)]
        checks.equal("columns of " + name, columns, tables[name])
    for name, expected in views.items():
        columns = [c for c, in p.query("SELECT name FROM pragma_table_info('%s')" % name)]
        checks.equal("columns of " + name, columns, expected)
    for name in of_views:
        p.query("SELECT * FROM " + name)
    checks.equal("integrity", p.query("PRAGMA integrity_check"), [("ok",)])
    checks.equal("what rows refer to", p.query("PRAGMA foreign_key_check"), [])
    # Rows go in by a leaner schema than the file's; who opens it finds what that says.
    largest = [(name + meta["uuid"], p.query("SELECT max(id) FROM " + name)[0][0]) for name in tables]
    checks.equal("numbers that are not given again", sorted(p.query("SELECT name, seq FROM sqlite_sequence")),
                 sorted(pair for pair in largest if pair[1] is not None))
    for name, column in (("event", "call_stack"), ("event", "extdata"), ("kernel_dispatch", "extdata")):
        checks.equal("%s.%s" % (name, column),
                     p.query("SELECT DISTINCT typeof(%s) FROM rocpd_%s" % (column, name)), [("text",)])
    checks.true("the file's schema: autoincrement, types and constraints",
                all("AUTOINCREMENT" in sql and "NOT NULL DEFAULT" in sql for sql, in p.query(
                    "SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%' AND name NOT LIKE "
                    "'rocpd_metadata%'")))


def same(checks, p, what, table, columns, sql):
    """Columns of a CSV file are what the statement selects, in any order of rows."""
    wanted = sorted(tuple(row[c] for c in columns) for row in p.rows(table))
    found = sorted(tuple(str(value) for value in row) for row in p.query(sql))
    checks.true(what + ": there are rows", len(wanted) > 0)
    checks.equal(what, found, wanted)


def check_calls(checks, p):
    for table, pattern in (("hip_api_trace", "HIP_%"), ("hsa_api_trace", "HSA_%"), ("marker_api_trace", "MARKER_%")):
        if p.rows(table):
            same(checks, p, table, table,
                 ("Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"),
                 "SELECT coalesce(json_extract(extdata, '$.message'), name), pid, tid, stack_id, start, \"end\" FROM "
                 "regions_and_samples WHERE category LIKE '%s'" % pattern)


def check_kernels(checks, p, table="kernel_trace"):
    same(checks, p, "kernels", table,
         ("Kind", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
          "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count",
          "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y",
          "Grid_Size_Z", "Agent_Id"),
         "SELECT category, queue_id, stream_id, tid, dispatch_id, kernel_id, coalesce(nullif(region, ''), name), stack_id, "
         "start, \"end\", (lds_size + 511) / 512 * 512, "
         "scratch_size, vgpr_count, accum_vgpr_count, sgpr_count, workgroup_x, workgroup_y, workgroup_z, grid_x, "
         "grid_y, grid_z, 'Agent ' || agent_log_index FROM kernels")


def check_memory(checks, p):
    same(checks, p, "copies", "memory_copy_trace",
         ("Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id",
          "Start_Timestamp", "End_Timestamp"),
         "SELECT category, name, stream_id, 'Agent ' || src_agent_log_index, 'Agent ' || dst_agent_log_index, stack_id, "
         "start, \"end\" FROM memory_copies")
    same(checks, p, "allocations", "memory_allocation_trace",
         ("Kind", "Operation", "Agent_Id", "Allocation_Size", "Correlation_Id", "Start_Timestamp", "End_Timestamp"),
         "SELECT category, CASE type WHEN 'ALLOC' THEN 'MEMORY_ALLOCATION_ALLOCATE' ELSE 'MEMORY_ALLOCATION_FREE' END, "
         "coalesce('Agent ' || agent_log_index, ''), size, stack_id, start, \"end\" FROM memory_allocations")
    checks.equal("addresses", sorted("0x%016x" % a for a, in p.query("SELECT address FROM memory_allocations")),
                 sorted(row["Address"] for row in p.rows("memory_allocation_trace")))


def check_counters(checks, p):
    wanted = sorted((int(r["Dispatch_Id"]), r["Kernel_Name"], r["Counter_Name"], float(r["Counter_Value"]),
                     int(r["Grid_Size"]), int(r["Workgroup_Size"]), int(r["Thread_Id"])) for r in p.rows("counter_collection"))
    found = sorted(p.query("SELECT dispatch_id, kernel_name, counter_name, value, grid_size, workgroup_size, tid FROM "
                           "counters_collection"))
    checks.true("there are counters", len(wanted) > 0)
    checks.equal("counters", found, wanted)
    checks.equal("counters' names", sorted(p.query("SELECT name, component, value_type FROM rocpd_info_pmc")),
                 sorted((name, "rocm", "ABS") for name in COUNTERS))
    checks.true("counters say what they are: %r" % p.query("SELECT description, block FROM pmc_info"),
                all(text and block for text, block in p.query("SELECT description, block FROM pmc_info")))


def check_info(checks, p):
    for base, size, uri, kind in p.query("SELECT load_base, load_size, uri, storage_type_str FROM code_objects"):
        checks.true("code object: %r" % uri, base > 0 and size > 0 and "://" in uri and kind in ("FILE", "MEMORY"))
    for symbol, name, address in p.query("SELECT kernel_name, demangled_kernel_name, kernel_object FROM kernel_symbols"):
        checks.true("symbol: %r" % symbol, symbol.endswith(".kd") and address > 0 and name)
    checks.true("there are symbols", p.query("SELECT * FROM kernel_symbols"))
    checks.equal("the empty text", p.query("SELECT id FROM rocpd_string WHERE string = ''"), [(1,)])
    checks.equal("events count from 1", p.query("SELECT min(id), max(id) = count(*) FROM rocpd_event"), [(1, 1)])
    checks.equal("agents", p.query("SELECT id, absolute_index, json_extract(extdata, '$.wave_front_size') FROM "
                                   "rocpd_info_agent ORDER BY id"),
                 [(int(r["Node_Id"]), int(r["Node_Id"]), int(r["Wave_Front_Size"])) for r in p.rows("agent_info")])
    (pid, command, path), = p.query("SELECT pid, command, json_extract(environment, '$.CROC_TEXT') FROM rocpd_info_process")
    checks.true("the process: %r" % command, pid > 0 and "endings" in command)
    checks.equal("threads' names", p.query("SELECT DISTINCT name FROM threads WHERE tid IN (SELECT tid FROM regions)"),
                 [("endings",)])
    checks.equal("its environment", path, os.environ["CROC_TEXT"])


def main():
    crocprof, programs, schema = sys.argv[1:4]
    checks = Checks()
    os.environ["CROC_TEXT"] = "a \"b\"; c='d'\n\\e"
    command = [os.path.join(programs, "endings"), "10", "3", "return"]
    formats = ["-f", "csv,rocpd"]
    with Profile(crocprof, [*formats, "--hsa-trace", "--memory-allocation-trace"], command) as p:
        check_schema(checks, p, schema)
        check_calls(checks, p)
        check_kernels(checks, p)
        check_memory(checks, p)
        check_info(checks, p)
    with Profile(crocprof, [*formats, "--pmc", ",".join(COUNTERS)], command) as p:
        check_kernels(checks, p)
        check_counters(checks, p)
        checks.equal("what counters' rows refer to", p.query("PRAGMA foreign_key_check"), [])
    with Profile(crocprof, [*formats, "--no-kernel-trace", "--pmc", ",".join(COUNTERS)], command) as p:
        check_counters(checks, p)
    markers = os.path.join(programs, "markers")
    if os.path.exists(markers):
        with Profile(crocprof, formats, [markers]) as p:
            check_calls(checks, p)
            checks.equal("what markers' rows refer to", p.query("PRAGMA foreign_key_check"), [])
            checks.true("moments are samples", p.query("SELECT * FROM samples WHERE category = 'MARKER_CORE_API'"))
    checks.exit()


if __name__ == "__main__":
    main()
