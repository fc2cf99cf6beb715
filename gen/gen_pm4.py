#!/usr/bin/env python3
"""PM4 packet list -> C. usage: gen_pm4.py <list.pm4> <output.h>

Writes PM4_PACKET_LIST(X), which calls X(NAME, opcode, body_min, body_max) for each packet.
"""
import pathlib
import sys


def read_packets(path):
    packets, opcodes = [], set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        if len(fields) != 4:
            sys.exit(f"{path}:{number}: expected NAME OPCODE MIN MAX")
        opcode, shortest, longest = (int(field, 0) for field in fields[1:])
        if opcode in opcodes or shortest > longest:
            sys.exit(f"{path}:{number}: {fields[0]}: opcode listed twice or lengths reversed")
        opcodes.add(opcode)
        packets.append((fields[0], opcode, shortest, longest))
    return packets


def main():
    table, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = [
        f"/* Generated from data/pm4/{table.name} by gen/gen_pm4.py. */",
        "#define PM4_PACKET_LIST(X) \\",
        *(f"    X({name}, 0x{opcode:02x}, {low}, {high}) \\"
          for name, opcode, low, high in read_packets(table)),
        "",
    ]
    output.write_text("\n".join(lines) + "\n")


main()
