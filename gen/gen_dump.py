#!/usr/bin/env python3
"""What the PM4 disassembler knows -> C.
usage: gen_dump.py <packets.txt> <executed.pm4> <fields.txt> <output.h>

DUMP_PACKET_LIST(X)  X(NAME, opcode, shortest, longest, first field, field count), by opcode
DUMP_FIELD_LIST(X)   X(dword, first bit, last bit, "name", kind, first of its enum, enum count)
DUMP_ENUM_LIST(X)    X(value, "name")
DUMP_REGISTER_FIELD_LIST(X)  X(family mask, "pattern", "name", first bit, last bit)

Fails when a packet that the software GPU executes is missing or has another opcode here.
"""
import pathlib
import sys

FAMILIES = ["gfx9", "gfx90a", "gfx94", "gfx101", "gfx103", "gfx11", "gfx12"]
INCLUDED = {"gfx9": ["gfx9", "gfx90a", "gfx94"]}  # fields of the first are those of all
KINDS = {"dec": "DECIMAL", "hex": "HEX", "address": "ADDRESS"}


def lines_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#")[0] if not line.lstrip().startswith("#") else ""
        if text.strip():
            yield f"{path}:{number}", text.split(), text[0].isspace()


def read_packets(path):
    packets, enums, current = [], {}, None
    for where, fields, indented in lines_of(path):
        if not indented and fields[0] == "packet" and len(fields) == 5:
            current = []
            packets.append((fields[1], *(int(f, 0) for f in fields[2:]), current))
        elif not indented and fields[0] == "enum" and len(fields) == 2:
            current = enums.setdefault(fields[1], [])
        elif indented and current is not None and len(fields) in (2, 4):
            current.append(fields)
        else:
            sys.exit(f"{where}: neither packet, enum nor a field of one")
    return sorted(packets, key=lambda packet: packet[1]), enums


def check_executed(path, packets):
    known = {name: opcode for name, opcode, *_ in packets}
    for where, fields, _ in lines_of(path):
        if known.get(fields[0]) != int(fields[1], 0):
            sys.exit(f"{where}: {fields[0]} is not the same in the disassembler's list")


def bit_range(text):
    if text == "-":
        return 0, 31
    first, _, last = text.partition(":")
    return int(first), int(last or first)


def register_fields(path):
    for where, fields, _ in lines_of_patterns(path):
        listed = FAMILIES if fields[0] == "all" else fields[0].split("/")
        families = [name for family in listed for name in INCLUDED.get(family, [family])]
        mask = " | ".join(f"1u << {FAMILIES.index(family)}" for family in families)
        for field in fields[2:]:
            name, _, bits = field.partition(":")
            first, _, last = bits.partition("-")
            yield f'{mask}, "{fields[1]}", "{name}", {first}, {last or first}'


def lines_of_patterns(path):
    """Patterns hold '#', so a comment is a line that begins with it."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{path}:{number}", line.split(), False


def macro(name, calls):
    return [f"#define {name}(X) \\", *(f"    X({call}) \\" for call in calls), ""]


def main():
    packets_path, executed, fields_path, output = (pathlib.Path(arg) for arg in sys.argv[1:5])
    packets, enums = read_packets(packets_path)
    check_executed(executed, packets)
    enum_first, enum_calls = {}, []
    for name, values in enums.items():
        enum_first[name] = (len(enum_calls), len(values))
        enum_calls += [f'{value}, "{text}"' for value, text in values]
    packet_calls, field_calls = [], []
    for name, opcode, shortest, longest, fields in packets:
        packet_calls.append(f"{name}, 0x{opcode:02x}, {shortest}, {longest}, "
                            f"{len(field_calls)}, {len(fields)}")
        for dword, bits, text, kind in fields:
            first, last = bit_range(bits)
            start, count = enum_first.get(kind, (0, 0))
            field_calls.append(f'{dword}, {first}, {last}, "{text}", '
                               f"{KINDS.get(kind, 'ENUM')}, {start}, {count}")
    lines = [f"/* Generated from data/pm4/{packets_path.name} and data/regs/{fields_path.name} "
             "by gen/gen_dump.py. */"]
    lines += macro("DUMP_PACKET_LIST", packet_calls)
    lines += macro("DUMP_FIELD_LIST", field_calls)
    lines += macro("DUMP_ENUM_LIST", enum_calls)
    lines += macro("DUMP_REGISTER_FIELD_LIST", register_fields(fields_path))
    output.write_text("\n".join(lines) + "\n")


main()
