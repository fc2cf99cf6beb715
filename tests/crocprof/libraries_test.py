"""rocSHMEM and hipFile in every output, of a program that plays them (made_libraries.c), which is the judge.

    libraries_test.py CROCPROF PROGRAM
"""
import collections
import glob
import json
import os
import sys

from crocprof_run import Checks, Profile

CALLS = {"rocshmem": {"putmem_on_stream": 3}, "hipfile": {"hipFileRead": 1, "hipFileUseCount": 1}}


def csv_and_statistics(checks, profile):
    for library, calls in CALLS.items():
        rows = profile.rows(library + "_api_trace")
        checks.equal(library + ": calls", collections.Counter(r["Function"] for r in rows), calls)
        checks.equal(library + ": domains", {r["Domain"] for r in rows}, {library.upper() + "_API_EXT"})
        checks.equal(library + ": statistics", {r["Name"]: int(r["Calls"]) for r in profile.rows(library + "_api_stats")},
                     calls)


def members(checks, profile):
    with open(glob.glob(profile.directory + "/*_results.json")[0], encoding="utf-8") as file:
        records = json.load(file)["rocprofiler-sdk-tool"][0]["buffer_records"]
    puts, files = records["rocshmem_api"], records["hipfile_api"]
    checks.equal("json: records", (len(puts), len(files)), (3, 2))
    # AMD's kinds of records with arguments, and its numbers of operations
    checks.equal("json: kinds", {r["kind"] for r in puts} | {r["kind"] for r in files}, {35, 37})
    checks.equal("json: operations", sorted(r["operation"] for r in puts + files), [5, 6, 6, 6, 9])
    checks.equal("json: arguments", {a["name"]: a["value"] for a in puts[0]["args"]}["nelems"], "4096")
    checks.equal("json: no result", "retval" in puts[0], False)
    checks.equal("json: results", sorted(r["retval"]["uint64_t_retval"] for r in files), [4, 512])


def database(checks, profile):
    checks.equal("rocpd", profile.query("select name, count(*) from regions group by name order by name"),
                 [("hipFileRead", 1), ("hipFileUseCount", 1), ("putmem_on_stream", 3)])
    checks.equal("rocpd: an argument",
                 profile.query("select distinct value from region_args where name = 'file_offset'"), [("-5",)])


def main():
    crocprof, program = sys.argv[1:3]
    checks = Checks()
    rocprofv3 = os.path.join(os.path.dirname(crocprof), "rocprofv3")
    formats = ["-f", "csv", "json", "rocpd", "pftrace", "otf2"]
    for options in (["--rocshmem-trace", "--hipfile-trace"], ["--runtime-trace"]):
        with Profile(rocprofv3, [*options, "--stats", "-o", "x", *formats], [program]) as profile:
            checks.equal("status", profile.status, 0)
            csv_and_statistics(checks, profile)
            members(checks, profile)
            database(checks, profile)
            with open(glob.glob(profile.directory + "/*.pftrace")[0], "rb") as file:
                checks.equal("pftrace", b"putmem_on_stream" in file.read(), True)
            checks.equal("otf2", len(glob.glob(profile.directory + "/*.otf2")), 1)
    with Profile(rocprofv3, ["--hipfile-trace", "-o", "x", "-f", "csv"], [program]) as profile:
        checks.equal("one of them", (profile.rows("rocshmem_api_trace"), len(profile.rows("hipfile_api_trace"))), ([], 2))
    checks.exit()


if __name__ == "__main__":
    main()
