#!/usr/bin/env python3
"""Makes the tables that describe the arguments of traced functions, from data/api.

    api_args.py API_FOLDER OUT.inc

Lists of macro calls: what arguments of one name and type have in common, and per table of functions
where each argument is. src/model/describe/arguments.c defines the macros, so that the compiler, which
knows the types, computes offsets, sizes and formats.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402
from text_pool import TextPool  # noqa: E402


def kinds_of(tables):
    """(family, name, type) of the arguments -> its number and one function that has it.

    Arguments that are called and spelled the same differ in their offsets only.
    """
    kinds = {}
    for function in (f for t in tables for f in t.functions):
        for p in function.params:
            kinds.setdefault((function.table.types_prefix, p.name, p.type), (len(kinds), function, p))
    return kinds


def kinds_text(kinds, pool):
    rows = ["    KIND(%s, %s, %s, %d, %d, %d)," % (prefix, function.name, name, pool.place(name),
                                                   pool.place(type_), p.indirections)
            for (prefix, name, type_), (_, function, p) in kinds.items()]
    return "\n".join(["static const struct kind kinds[] = {"] + rows + ["};", ""])


def table_text(table, kinds):
    out = ["static const struct place arguments_%s[] = {" % table.stem]
    starts = [0]
    for f in table.functions:
        for p in f.params:
            number, like, _ = kinds[table.types_prefix, p.name, p.type]
            out.append("    PLACE(%s, %s, %s, %d, %s)," % (table.types_prefix, f.name, p.name, number,
                                                        like.name))
        starts.append(starts[-1] + len(f.params))
    out += ["};", "/* Function i has the arguments [starts[i], starts[i + 1]). */",
            "static const uint16_t starts_%s[] = {%s};" % (table.stem, ", ".join(map(str, starts))),
            ""]
    return "\n".join(out)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tables = api_model.load(sys.argv[1])
    text = "/* Made by gen/api_args.py from data/api. */\n"
    pool, kinds = TextPool(), kinds_of(tables)
    rows = kinds_text(kinds, pool)
    text += pool.array("static const char texts[]") + rows
    text += "\n".join(table_text(t, kinds) for t in tables)
    text += "\n#define ARGUMENT_TABLES(X) \\\n"
    text += "".join("    X(%s, %s) \\\n" % (t.domain, t.stem) for t in tables) + "\n"
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
