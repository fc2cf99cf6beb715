#!/usr/bin/env python3
"""Counter blocks of a generation -> C.  usage: gen_blocks.py <gfxN.blocks> <output.h>

Writes the blocks of each column of the list, their counter registers, and <gfxN>_families, one for
each architecture, which point to the <registers>_generation of their column.
data/blocks/gfx9.blocks explains the list.
"""
import pathlib
import sys

LAYOUTS = {  # select, low, high, control
    "select": ("{b}_PERFCOUNTER{n}_SELECT", "{b}_PERFCOUNTER{n}_LO", "{b}_PERFCOUNTER{n}_HI", None),
    "number": ("{b}{n}_PERFCOUNTER_SELECT", "{b}{n}_PERFCOUNTER_LO", "{b}{n}_PERFCOUNTER_HI", None),
    "second": ("{b}_PERFCOUNTER2_{n}_SELECT", "{b}_PERFCOUNTER2_{n}_LO", "{b}_PERFCOUNTER2_{n}_HI",
               None),
    "even": ("{b}_PERFCOUNTER{n2}_SELECT", "{b}_PERFCOUNTER{n}_LO", None, None),
    "each": ("{b}{i}_PERFCOUNTER{n}_SELECT", "{b}{i}_PERFCOUNTER{n}_LO",
             "{b}{i}_PERFCOUNTER{n}_HI", None),
    "config": ("{b}_PERFCOUNTER{n}_CFG", "{b}_PERFCOUNTER_LO", "{b}_PERFCOUNTER_HI",
               "{b}_PERFCOUNTER_RSLT_CNTL"),
    "perfcnt": ("{b}{i}_PERFCNT_PERFCOUNTER{n}_CFG", "{b}{i}_PERFCNT_PERFCOUNTER_LO",
                "{b}{i}_PERFCNT_PERFCOUNTER_HI", "{b}{i}_PERFCNT_PERFCOUNTER_RSLT_CNTL"),
    "perfmon": ("{b}{i}_PERFMON_CNTL", "{b}{i}_PERFCOUNTER{n}_RESULT", None, "{b}{i}_PERFMON_CNTL"),
}
EACH = ("each", "perfcnt", "perfmon")  # layouts with registers of its own for each instance
SCOPES = {
    "die": [],
    "se": ["BLOCK_PER_SE"],
    "sa": ["BLOCK_PER_SE", "BLOCK_PER_SA"],
    "wgp": ["BLOCK_PER_SE", "BLOCK_PER_SA", "BLOCK_PER_WGP"],
    "outside": ["BLOCK_OUTSIDE"],
}
OPTIONS = {"tc": "BLOCK_TC", "cu": "BLOCK_PER_CU", "clear": "BLOCK_CLEAR",
           "level": "BLOCK_ACCUMULATES", "grbm": "BLOCK_GRBM", "base": "BLOCK_BASE_DIES"}
CONFIG_ENABLE = 1 << 28  # PERF_MODE 0 (accumulate), ENABLE
BASE_DIES = 4


class Block:
    def __init__(self, where, fields, column_count):
        self.where = where
        self.name, self.id, counters, self.layout, self.registers, scope, *rest = fields
        self.counters = int(counters)
        if self.layout not in LAYOUTS or scope not in SCOPES:
            sys.exit(f"{where}: layout {self.layout}, scope {scope}")
        extents = [field for field in rest if field == "-" or ":" in field and "=" not in field]
        if len(extents) not in (1, column_count):
            sys.exit(f"{where}: {len(extents)} columns, not 1 or {column_count}")
        pairs = [tuple(map(int, extent.split(":"))) if extent != "-" else None
                 for extent in extents]
        self.extents = pairs * column_count if len(pairs) == 1 else pairs
        self.flags = list(SCOPES[scope])
        self.bits, self.control, self.file = 0, None, 0
        self.list, self.clock = None, None
        for option in rest:
            if option not in extents:
                self.option(option)
        if self.layout in ("config", "perfcnt"):
            self.bits = CONFIG_ENABLE
            if scope != "outside":
                self.flags.append("BLOCK_MC")
        if self.layout in EACH:
            self.flags.append("BLOCK_EACH")
        if self.layout == "perfmon":
            self.flags.append("BLOCK_PERFMON")

    def option(self, text):
        key, _, value = text.partition("=")
        if text in OPTIONS:
            self.flags.append(OPTIONS[text])
        elif key == "bits":
            self.bits = int(value, 0)
        elif key == "file":
            self.file = int(value)
        elif key == "list":
            self.list = value
        elif key == "clock":
            register, _, number = value.partition(":")
            self.clock = (register, int(number, 0))
        elif key == "control":
            register, _, number = value.partition(":")
            self.control = (register, int(number, 0))
            self.flags.append("BLOCK_SQ")
        else:
            sys.exit(f"{self.where}: option {text}")

    def register_rows(self, prefix, instances):
        def enumerator(template, i, n):
            if template is None:
                return "0"
            name = template.format(b=self.registers, n=n, n2=2 * n, i=i)
            return f"REG_{self.list or prefix}_{name}"

        templates = (*LAYOUTS[self.layout], self.clock and self.clock[0])
        if "BLOCK_BASE_DIES" in self.flags:
            instances //= BASE_DIES
        for i in range(instances if self.layout in EACH else 1):
            for n in range(self.counters):
                yield [enumerator(template, i, n) for template in templates]


def read(path):
    columns, blocks = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split("#")[0].split()
        if fields and fields[0] in ("members", "registers", "low", "high", "trace"):
            columns[fields[0]] = fields[1:]
        elif fields:
            blocks.append(Block(f"{path}:{number}", fields, len(columns["members"])))
    for key, values in columns.items():
        if len(values) != len(columns["members"]):
            sys.exit(f"{path}: {key}: one for each column of members")
    return columns, blocks


def block_text(block, prefix, extent, first):
    instances, last = extent
    control, value = block.control or (None, block.clock[1] if block.clock else 0)
    control = f"REG_{prefix}_{control}" if control else "0"
    flags = " | ".join(block.flags) or "0"
    return (f'    {{"{block.name}", {block.id}, {instances}, {block.counters}, {last}, {flags}, '
            f"{block.file}, {first}, 0x{block.bits:x}u, {control}, 0x{value:x}u}},")


def main():
    path, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    name = path.stem
    columns, blocks = read(path)
    lines = [f"/* Generated from data/blocks/{path.name} by gen/gen_blocks.py. */"]
    registers, starts, tables = [], {}, []
    for column, prefix in enumerate(columns["registers"]):
        table = [f"static const struct gpu_block {name}_blocks_{column}[] = {{"]
        for block in blocks:
            if block.extents[column] is None:
                continue
            rows = tuple("{%s}" % ", ".join(row)
                         for row in block.register_rows(prefix, block.extents[column][0]))
            if rows not in starts:
                starts[rows] = len(registers)
                registers += rows
            table.append(block_text(block, prefix, block.extents[column], starts[rows]))
        tables += [*table, "};"]
    families = [
        f'    {{"{architecture}", sizeof {name}_blocks_{column} / sizeof {name}_blocks_{column}[0], '
        f"{name}_blocks_{column}, {name}_registers, {low}, {high}, "
        f"{trace}, &{columns['registers'][column].lower()}_generation}},"
        for column, (members, low, high, trace) in enumerate(
            zip(columns["members"], columns["low"], columns["high"],
                columns.get("trace", ["0"] * len(columns["members"]))))
        for architecture in members.split("/")]
    lines += [f"static const struct gpu_counter_registers {name}_registers[] = {{",
              *(f"    {row}," for row in registers), "};"]
    lines += [*tables, f"const struct gpu_family {name}_families[] = {{", *families, "};",
              f"const uint32_t {name}_family_count = "
              f"sizeof {name}_families / sizeof {name}_families[0];"]
    output.write_text("\n".join(lines) + "\n")


main()
