#!/usr/bin/env python3
"""Register table -> C. usage: gen_regs.py <table.regs> <PREFIX> <output.h>

Writes one enumerator a register, REG_<PREFIX>_<NAME>, and <PREFIX>_REG_LIST(X), which calls
X(NAME, offset) for each register in order of offset.
"""
import pathlib
import sys


def read_registers(path):
    registers = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        if len(fields) != 2:
            sys.exit(f"{path}:{number}: expected NAME OFFSET")
        registers.append((fields[0], int(fields[1], 16)))
    names = [name for name, _ in registers]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"{path}: {name} is listed twice")
    return registers


def main():
    table, prefix, output = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    registers = sorted(read_registers(table), key=lambda register: register[1])
    lines = [
        f"/* Generated from data/regs/{table.name} by gen/gen_regs.py. */",
        f"#ifndef {prefix}_REGS_H",
        f"#define {prefix}_REGS_H",
        "",
        f"enum {prefix.lower()}_reg {{",
        *(f"    REG_{prefix}_{name} = 0x{offset:05x}," for name, offset in registers),
        "};",
        "",
        f"#define {prefix}_REG_LIST(X) \\",
        *(f"    X({name}, 0x{offset:05x}) \\" for name, offset in registers),
        "",
        "",
        "#endif",
    ]
    text = "\n".join(lines) + "\n"
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)


main()
