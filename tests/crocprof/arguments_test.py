"""--api-arguments: arguments of calls in the database and in JSON are those that the program passed, and stay in
what is made of a database; called rocprofv3, they are there unless somebody says no.

    arguments_test.py CROCPROF PROGRAMS
"""
import glob
import json
import os
import sqlite3
import subprocess
import sys

from crocprof_run import Checks, Profile

LAUNCHES, COPIES, BYTES = 10, 3, 4096 * 4
TO_DEVICE = "1"  # hipMemcpyHostToDevice
# Of each function how often it is called, and what the program's source says of the arguments.
CALLS = {
    "hipMalloc": (1, [("void **", "ptr", None), ("size_t", "size", str(BYTES))]),
    "hipMemcpy": (COPIES, [("void *", "dst", None), ("const void *", "src", None), ("size_t", "sizeBytes", str(BYTES)),
                           ("hipMemcpyKind", "kind", TO_DEVICE)]),
    "hipLaunchKernel": (LAUNCHES, [("const void *", "function_address", None), ("dim3", "numBlocks", "{x=64, y=1, z=1}"),
                                   ("dim3", "dimBlocks", "{x=64, y=1, z=1}"), ("void **", "args", None),
                                   ("size_t", "sharedMemBytes", "0"), ("hipStream_t", "stream", "(null)")]),
}


def from_json(directory):
    """Arguments and what was returned, by the call's id and name."""
    paths = glob.glob(directory + "/*_results.json")
    with open(paths[0], encoding="utf-8") as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    kinds = tool["strings"]["buffer_records"]
    calls = {}
    for record in tool["buffer_records"]["hip_api"]:
        kind = kinds[record["kind"]]
        name = kind["operations"][record["operation"]]
        arguments = [(a["type"], a["name"], a["value"]) for a in record.get("args", [])]
        calls[record["correlation_id"]["internal"], kind["kind"], name] = arguments, record.get("retval")
    return calls


def from_database(query):
    calls = {}
    for row in query("SELECT R.stack_id, R.category, R.name, A.arg_position, A.arg_type, A.arg_name, A.arg_value "
                             "FROM regions R LEFT JOIN events_args A ON A.event_id = R.event_id "
                             "ORDER BY R.stack_id, A.arg_position"):
        arguments = calls.setdefault(row[:3], [])
        if row[3] is not None:
            assert row[3] == len(arguments), row
            arguments.append(row[4:])
    return calls


def is_as_passed(arguments, wanted):
    return len(arguments) == len(wanted) and all(
        a[:2] == w[:2] and (a[2].startswith("0x") if w[2] is None else a[2] == w[2]) for a, w in zip(arguments, wanted))


def kept_check(checks, crocprof, p, calls):
    """What is made of the database has the same arguments, in any order of reading."""
    source = glob.glob(p.directory + "/*_results.db")[0]
    for command, formats in (("convert", "json,rocpd"), ("merge", "rocpd"), ("convert", "rocpd,html")):
        out = os.path.join(p.directory, "made_" + command + formats.replace(",", ""))
        made = subprocess.run([crocprof, command, "-f", formats, "-d", out, "-o", "made", source], capture_output=True,
                              text=True, timeout=60)
        checks.equal(f"{command} {formats}: {made.stderr}", made.returncode, 0)
        with sqlite3.connect(glob.glob(out + "/*.db")[0]) as database:
            checks.equal(f"{command} {formats}: database",
                         from_database(lambda sql: database.execute(sql).fetchall()), calls)
        if "json" in formats:
            found = from_json(out)
            checks.equal(f"{command} {formats}: json", {call: a for call, (a, _) in found.items()}, calls)
            checks.equal("a database does not say what was returned", {r for _, r in found.values()}, {None})


def default_check(checks, crocprof, command):
    rocprofv3 = os.path.join(os.path.dirname(crocprof), "rocprofv3")
    for options, has in (([], True), (["--api-arguments=no"], False)):
        with Profile(rocprofv3, ["--hip-trace", "-f", "rocpd,csv", "-o", "x", *options], command) as p:
            checks.equal(f"rocprofv3 {options}: arguments", p.query("SELECT count(*) > 0 FROM rocpd_arg"), [(int(has),)])
            checks.equal(f"rocprofv3 {options}: kinds", {r["Domain"] for r in p.rows("hip_api_trace")},
                         {"HIP_RUNTIME_API_EXT", "HIP_COMPILER_API_EXT"} if has else
                         {"HIP_RUNTIME_API", "HIP_COMPILER_API"})


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    command = [os.path.join(programs, "endings"), str(LAUNCHES), str(COPIES), "return"]
    options = ["--hip-trace", "--no-summary", "-f", "rocpd,json,csv"]
    with Profile(crocprof, options + ["--api-arguments"], command) as p:
        checks.equal("status", p.status, 23)
        found, database = from_json(p.directory), from_database(p.query)
        checks.equal("both formats say the same", {call: a for call, (a, _) in found.items()}, database)
        for name, (count, wanted) in CALLS.items():
            calls = [call for call in found if call[2] == name]
            checks.equal(name, len(calls), count)
            for call in calls:
                arguments, result = found[call]
                checks.true(f"{call}: {arguments}", is_as_passed(arguments, wanted))
                checks.equal(f"{call}: hipSuccess", result, {"uint64_t_retval": 0})
                checks.equal("its kind", call[1], "HIP_RUNTIME_API_EXT")
        rows = p.rows("hip_api_trace")
        checks.equal("calls in CSV", sorted((int(r["Correlation_Id"]), r["Domain"], r["Function"]) for r in rows),
                     sorted(found))
        kept_check(checks, crocprof, p, database)
        checks.equal("region_args", p.query("SELECT value FROM region_args WHERE name = 'kind'"), [(TO_DEVICE,)] * COPIES)
    with Profile(crocprof, options, command) as p:
        checks.true("without: calls, but no arguments",
                    {(str(a), r) for a, r in from_json(p.directory).values()} == {("[]", None)})
        checks.equal("without: none in the database", p.query("SELECT count(*) FROM rocpd_arg"), [(0,)])
    default_check(checks, crocprof, command)
    checks.exit()


if __name__ == "__main__":
    main()
