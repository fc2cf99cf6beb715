#!/usr/bin/env python3
"""The profiler's counter definitions and the software GPU's events were written down separately:
where both know a counter on a GPU, they must mean the same block and number, and every counter that
is defined for one of our GPUs must have a row that says what it is worth there.

usage: events_test.py <data/counters>"""
import pathlib
import re
import sys

COLUMNS = {"gfx906": 4, "gfx908": 5, "gfx90a": 6, "gfx942": 7}


def definitions(path):
    """{(counter, gpu): (block, number)} of basic.yaml, which is regular enough for three patterns."""
    found, name, gpus, block = {}, None, [], None
    for line in path.read_text().splitlines():
        if match := re.match(r"(\w+):\s*$", line):
            name = match[1]
        elif match := re.match(r"\s+((?:gfx\w+/?)+):\s*$", line):
            gpus = match[1].split("/")
        elif match := re.match(r"\s+block:\s*(\w+)", line):
            block = match[1]
        elif match := re.match(r"\s+event:\s*(\d+)", line):
            for gpu in gpus:
                found[name, gpu] = block, int(match[1])
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    defined = definitions(folder / "basic.yaml")
    compared, errors, listed = 0, [], set()
    for line in (folder / "events.txt").read_text().splitlines():
        fields = line.split("#")[0].split()
        for gpu, column in COLUMNS.items() if fields else ():
            listed.add((gpu, fields[0], fields[column]))
            expected = defined.get((fields[1], gpu))
            if expected is None or fields[column] == "-":
                continue
            compared += 1
            if (fields[0], int(fields[column])) != expected:
                errors.append(f"{fields[1]} on {gpu}: events.txt has {fields[0]} "
                              f"{fields[column]}, basic.yaml has {expected[0]} {expected[1]}")
    for (name, gpu), (block, number) in defined.items():
        if gpu in COLUMNS and (gpu, block, str(number)) not in listed:
            errors.append(f"{name} on {gpu}: events.txt has no row for {block} {number}")
    print(f"{compared} numbers compared, {len(errors)} differ")
    print("\n".join(errors))
    sys.exit(bool(errors) or compared < 100)


main()
