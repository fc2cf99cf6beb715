#!/usr/bin/env python3
"""merge_bench.py BUILD [--parts N] [--records N] [--json FILE] [--directory DIR] [--check]

What `crocprof merge` needs for the parts of a job: wall and CPU time, and peak memory, for each of its formats.
Parts are copies of one recording, each with a rank and a guid of its own; those of every node but the first have a
clock that is apart from the first one's and drifts.
"""
import argparse
import json
import mmap
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

PARTS_BUDGET, RECORDS_BUDGET = 64, 1_000_000
TIME_BUDGET_S, MEMORY_BUDGET_MB = 60, 256
RANKS_A_NODE = 8
FORMATS = ("rocpd", "package", "otf2", "html")
DRIFT = 1.00002


def replace_all(path, old, new):
    """In place: what is replaced is as long."""
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        at = content.find(old)
        while at >= 0:
            content[at:at + len(old)] = new
            at = content.find(old, at + len(old))


def clock_of(node):
    """The world's and the records' time, at the beginning and at the end."""
    begin, lasts = 975779239000000, 100_000_000_000
    world = 1_790_000_000_000_000_000
    return [world + 10_000_000 * node, begin, world + 10_000_000 * node + int(lasts * (DRIFT if node else 1)), begin + lasts]


def part_make(base, path, rank):
    shutil.copy(base, path)
    with sqlite3.connect(path) as database:
        guid, = database.execute("SELECT value FROM rocpd_metadata WHERE tag = 'guid'").fetchone()
    other = guid[:-12] + "%012x" % (rank + 1)
    replace_all(path, guid.encode(), other.encode())
    replace_all(path, guid.replace("-", "_").encode(), other.replace("-", "_").encode())
    node, suffix = rank // RANKS_A_NODE, "_" + other.replace("-", "_")
    with sqlite3.connect(path) as database:
        clock = {"crocprof_boot": "boot%d" % node, "crocprof_clock": clock_of(node)}
        database.execute('UPDATE "rocpd_info_process%s" SET environment = ?, extdata = ?' % suffix,
                         (json.dumps({"OMPI_COMM_WORLD_RANK": str(rank)}), json.dumps(clock)))
        database.execute('UPDATE "rocpd_info_node%s" SET hostname = ?, machine_id = ?' % suffix, ("node%d" % node,) * 2)


def measure(words, directory):
    """Wall seconds, CPU seconds, peak memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=directory)
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("%s: status %d: %s" % (" ".join(words[:4]), status, said))
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def size_mb(directory):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(directory) for name in names) / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json")
    parser.add_argument("--directory")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--check", action="store_true", help="status 1 where a budget is not met")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    directory = os.path.abspath(tempfile.mkdtemp(prefix="crocprof-merge-", dir=options.directory))
    results, over = [], False
    try:
        parts = os.path.join(directory, "parts")
        os.mkdir(parts)
        base = os.path.join(directory, "base")
        subprocess.run([os.path.join(build, "bench", "part_make"), base, str(options.records)], check=True)
        child = os.fork()  # what is mapped here would count as memory of the children to be measured
        if child == 0:
            for rank in range(options.parts):
                part_make(base + "_results.db", os.path.join(parts, "rank%04d_results.db" % rank), rank)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit("parts could not be made")
        os.unlink(base + "_results.db")
        share = options.parts * options.records / (PARTS_BUDGET * RECORDS_BUDGET)
        for name in options.formats.split(","):
            made = os.path.join(directory, "made")
            os.mkdir(made)
            wall, cpu, peak = measure([os.path.join(build, "bin", "crocprof"), "merge", "-f", name, "-d", made, parts], directory)
            is_over = wall > TIME_BUDGET_S * share or peak > MEMORY_BUDGET_MB
            over = over or is_over
            print("%-8s %3d parts of %8d records  %7.2f s  %7.2f s CPU  %6.1f MB peak  %8.1f MB written  budget %.1f s, %d MB  %s" % (
                name, options.parts, options.records, wall, cpu, peak, size_mb(made), TIME_BUDGET_S * share, MEMORY_BUDGET_MB,
                "OVER" if is_over else "met"), flush=True)
            results.append({"name": name, "s": wall, "cpu_s": cpu, "peak_mb": peak, "budget_s": TIME_BUDGET_S * share})
            shutil.rmtree(made)
    finally:
        shutil.rmtree(directory)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"benchmark": "merge", "parts": options.parts, "records": options.records, "results": results}, file, indent=1)
    return options.check and over


if __name__ == "__main__":
    sys.exit(main())
