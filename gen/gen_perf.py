#!/usr/bin/env python3
"""Counter tables -> C.  usage: gen_perf.py <x.regs> <blocks.txt> <events.txt> <output.h>

PERF_BLOCK_LIST(X)     X(BLOCK, axis, counters, control)
PERF_REGISTER_LIST(X)  X(offset, BLOCK or NONE, kind, index), in order of offset
PERF_EVENT_LIST(X)     X(BLOCK, NAME, class, ({source, weight}, ...), term count, level, accumulate,
                         divisor, gfx906, gfx908, gfx90a, gfx942)     -1: not an event there
"""
import pathlib
import re
import sys

GENERATIONS = ["gfx906", "gfx908", "gfx90a", "gfx942"]  # in the order of enum gpu_gen
KINDS = {"SELECT": "SELECT", "LO": "LOW", "HI": "HIGH", "CFG": "CONFIG", "RSLT_CNTL": "CONTROL"}


def rows(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split("#")[0].split()
        if fields:
            yield f"{path}:{number}", fields


def classify(name, blocks):
    """Block, kind and counter index of a register; blocks without counters are plain storage."""
    match = re.fullmatch(r"GRBM_SE(\d)_PERFCOUNTER_(\w+)", name)
    if match and match[2] in KINDS:
        return "GRBM_SE", KINDS[match[2]], int(match[1])
    match = re.fullmatch(r"(\w+?)_PERFCOUNTER(\d*)_(\w+)", name)
    if match and match[1] in blocks and match[3] in KINDS:
        return match[1], KINDS[match[3]], int(match[2] or 0)
    return "NONE", "STORAGE", 0


TERMS_MAX = 16  # EVENT_TERMS_MAX
CLASSES = ("exact", "modelled", "approximate", "none")


def sources_of(text, where):
    """Terms, whether they are a level, whether the event accumulates another's level."""
    if text in ("-", "0"):
        return [], 0, 0
    if text == "ACCUM":
        return [], 0, 1
    terms = []
    for part in re.findall(r"[+-]?[^+-]+", text.lstrip("@")):
        match = re.fullmatch(r"([+-]?)(?:(\d+)x)?([A-Z][A-Z0-9_]*)", part)
        if not match:
            sys.exit(f"{where}: source {part}")
        terms.append((match[3], int(match[1] + (match[2] or "1"))))
    if len(terms) > TERMS_MAX:
        sys.exit(f"{where}: more than {TERMS_MAX} terms")
    return terms, int(text.startswith("@")), 0


def event_call(where, fields, blocks):
    block, name, klass, divisor, *numbers, sources = fields
    if block not in blocks or len(numbers) != len(GENERATIONS) or klass not in CLASSES:
        sys.exit(f"{where}: {name}: unknown block or class, or not one number for each of "
                 f"{GENERATIONS}")
    if (sources == "-") != (klass == "none"):
        sys.exit(f"{where}: {name}: class none and no sources go together")
    terms, level, accumulate = sources_of(sources, where)
    listed = ", ".join("{SRC_%s, %d}" % term for term in terms) or "{0, 0}"
    numbers = ", ".join("-1" if number == "-" else number for number in numbers)
    return (f"{block}, {name}, {klass.upper()}, ({listed}), {len(terms)}, {level}, {accumulate}, "
            f"{divisor}, {numbers}")


def numbers_check(path):
    """A number means one event in a block."""
    seen = set()
    for where, (block, name, _, _, *numbers, _) in rows(path):
        for generation, number in zip(GENERATIONS, numbers):
            if number != "-" and (generation, block, number) in seen:
                sys.exit(f"{where}: {name}: number {number} of {generation} is taken")
            seen.add((generation, block, number))


def macro(name, calls):
    return [f"#define {name}(X) \\", *(f"    X({call}) \\" for call in calls), ""]


def main():
    regs, blocks_path, events_path, output = (pathlib.Path(arg) for arg in sys.argv[1:5])
    blocks = {fields[0]: fields[1:] for _, fields in rows(blocks_path)}
    registers = sorted((int(fields[1], 16), fields[0]) for _, fields in rows(regs))
    events = [event_call(where, fields, blocks) for where, fields in rows(events_path)]
    numbers_check(events_path)
    lines = [f"/* Generated from data/ by gen/gen_perf.py. */"]
    lines += macro("PERF_BLOCK_LIST", (f"{name}, {f[0].upper()}, {f[1]}, {f[2].upper()}"
                                       for name, f in blocks.items()))
    lines += macro("PERF_REGISTER_LIST",
                   ("0x%05x, %s, %s, %d" % (offset, *classify(name, blocks))
                    for offset, name in registers))
    lines += macro("PERF_EVENT_LIST", events)
    output.write_text("\n".join(lines) + "\n")


main()
