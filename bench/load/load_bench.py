"""Time to load, find tools and initialise with one tool and 100 libraries mapped.

    load_bench.py BUILD [--json FILE] [--check]
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIBRARIES, PROCESSES, BUDGET_MS = 100, 21, 0.4


def measure(build, folder, count):
    programs = os.path.join(build, "tests", "conformance")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "LD_PRELOAD"))}
    times = []
    for _ in range(PROCESSES):
        out = subprocess.run([os.path.join(programs, "conformance_linked"), "libraries", str(count),
                              folder], env=env, capture_output=True, text=True, check=True).stdout
        times.append(float(re.search(r"^register .* ([\d.]+) ms$", out, re.M).group(1)))
    return sorted(times)[PROCESSES // 4]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(LIBRARIES):
            shutil.copy(os.path.join(args.build, "tests", "conformance",
                                     "libconformance_bystander.so"),
                        os.path.join(folder, f"lib{i}.so"))
        rows = {count: measure(args.build, folder, count) for count in (0, LIBRARIES)}
    for count, ms in rows.items():
        print(f"{count:4d} further libraries {ms:8.3f} ms budget {BUDGET_MS}  {'met' if ms <= BUDGET_MS else 'OVER'}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"benchmark": "load", "unit": "ms", "budget": BUDGET_MS,
                       "results": [{"libraries": c, "ms": ms} for c, ms in rows.items()]}, f)
    sys.exit(args.check and max(rows.values()) > BUDGET_MS)


if __name__ == "__main__":
    main()
