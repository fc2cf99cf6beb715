#!/usr/bin/env python3
"""Makes the functions that an OpenMP runtime calls, and the list that registers them.

    ompt_callbacks.py API_FOLDER OUT.c
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402

HEAD = """/* Made by gen/ompt_callbacks.py from data/api; do not edit. */
#include "intercept/ompt/events.h"
"""

CALLBACK = """
static void on_{name}({params})
{{
    rocprofiler_callback_tracing_ompt_data_t data_;
    if (!ompt_event_wanted({args}))
        return;
    data_.size = sizeof data_;
{fills}
    {report};
}}
"""


def callback(f):
    paired = f.slots[1] == 1
    return CALLBACK.format(
        name=f.name, params=", ".join(p.decl for p in f.params),
        args="%d, %s" % (f.id, "endpoint" if paired else "0"),
        fills="\n".join("    data_.args.%s.%s = %s;" % (f.name, p.name, p.name) for p in f.params),
        report="ompt_event_scope(%d, endpoint, &data_)" % f.id if paired
               else "ompt_event_moment(%d, &data_)" % f.id)


def main():
    folder, target = sys.argv[1:3]
    table = [t for t in api_model.load(folder) if t.family == "ompt"][0]
    events = [f for f in table.functions if f.slots[0] is not None]
    out = [HEAD] + [callback(f) for f in events]
    out.append("const struct ompt_callback_row ompt_callback_rows[] = {")
    out += ["    {%d, %d, (ompt_callback_t)on_%s}," % (f.slots[0], f.id, f.name) for f in events]
    out += ["    {0, 0, NULL},", "};"]
    with open(target, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("ompt_callbacks.py: %s" % e)
