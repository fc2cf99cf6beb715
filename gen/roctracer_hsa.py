#!/usr/bin/env python3
"""Lists the HSA functions in ROCtracer's order, for src/api/roctracer/hsa_calls.c.

    roctracer_hsa.py API_FOLDER OUT_FILE

One row a function: (name, trace domain, operation, number of parameters, place of its name in
hsa_call_texts).
"""
import sys

import api_headers
import api_model
from text_pool import TextPool


def main():
    folder, target = sys.argv[1:]
    pool = TextPool()
    out = ["#define HSA_CALLS(X) \\"]
    for f in api_headers.roctracer_functions(api_model.load(folder)):
        domain = "TRACE_%s_API" % f.table.stem.upper()
        out.append("    X(%s, %s, %d, %d, %d) \\" % (f.name, domain, f.id, len(f.params),
                                                pool.place(f.name)))
    with open(target, "w", encoding="utf-8") as file:
        file.write("/* Made by gen/roctracer_hsa.py from data/api; do not edit. */\n" +
                   pool.array("static const char hsa_call_texts[]") + "\n".join(out) + "\n\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("roctracer_hsa.py: %s" % e)
