#!/usr/bin/env python3
"""Makes the tables that describe the arguments of traced functions, from data/api.

    api_args.py API_FOLDER OUT.inc

Per table of functions one list of macro calls; src/model/describe/arguments.c defines the macro, so
that the compiler, which knows the types, computes offsets, sizes and formats.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402


def function_rows(function):
    prefix = function.table.types_prefix
    return ['ARGUMENT(%s, %s, %s, "%s", %d),' % (prefix, function.name, p.name, p.type,
                                                 p.indirections)
            for p in function.params]


def table_text(table):
    out = ["static const struct argument arguments_%s[] = {" % table.stem]
    starts = [0]
    for f in table.functions:
        rows = function_rows(f)
        out += ["    " + r for r in rows]
        starts.append(starts[-1] + len(rows))
    out += ["};", "/* Function i has the arguments [starts[i], starts[i + 1]). */",
            "static const uint16_t starts_%s[] = {%s};" % (table.stem, ", ".join(map(str, starts))),
            ""]
    return "\n".join(out)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tables = api_model.load(sys.argv[1])
    text = "/* Made by gen/api_args.py from data/api. */\n"
    text += "\n".join(table_text(t) for t in tables)
    text += "\n#define ARGUMENT_TABLES(X) \\\n"
    text += "".join("    X(%s, %s) \\\n" % (t.domain, t.stem) for t in tables) + "\n"
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
