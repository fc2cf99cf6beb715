#!/usr/bin/env python3
"""Every opcode of every format, as LLVM's disassembler knows it for each GPU, put before the software
GPU's decoder: docs/software_gpu_encodings.md lists what it does not execute, and why. What is on no
list of reasons, or is decoded as another instruction, is an error.

usage: encodings.py --llvm-mc FILE --answers FILE --document FILE [--write]"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

# The name by which LLVM 15 knows the GPU; the order is that of enum gpu_gen.
TARGETS = [("gfx906", "gfx906"), ("gfx908", "gfx908"), ("gfx90a", "gfx90a"), ("gfx942", "gfx940")]

ENCODING_SUFFIX = r"_(e32|e64|sdwa|dpp|lit)$"
V = 0x100  # a vector register as a 9-bit source
# Formats: name, first dword without opcode, shift and number of opcodes, and second dwords (none: one
# dword). Several fillings of the fields, since some operands must be scalar, some even, some aligned.
FORMATS = [
    ("SOP2", [0x80000000 | 16 << 16 | 24 << 8 | 32], 23, 96, [None]),
    ("SOPK", [0xb0000000 | 16 << 16 | 8], 23, 0x1c, [None]),
    ("SOP1", [0xbe800000 | 16 << 16 | 32], 8, 256, [None]),
    ("SOPC", [0xbf000000 | 24 << 8 | 32], 16, 128, [None]),
    ("SOPP", [0xbf800000 | 1, 0xbf800000], 16, 128, [None]),
    ("SMEM", [0xc0020000 | 16 << 6 | 8], 18, 256, [0x10]),
    ("VOP2", [16 << 17 | 24 << 9 | V + 32], 25, 64, [None]),
    ("VOP1", [0x7e000000 | 16 << 17 | V + 32, 0x7e000000 | 16 << 17], 9, 256, [None]),
    ("VOPC", [0x7c000000 | 24 << 9 | V + 32], 17, 256, [None]),
    ("VOP2 SDWA", [16 << 17 | 24 << 9 | 249], 25, 64, [0x06060600 | 32]),
    ("VOP1 SDWA", [0x7e000000 | 16 << 17 | 249], 9, 256, [0x06060600 | 32]),
    ("VOPC SDWA", [0x7c000000 | 24 << 9 | 249], 17, 256, [0x06060000 | 32]),
    ("VOP2 DPP", [16 << 17 | 24 << 9 | 250], 25, 64, [0xff00e400 | 32, 0xff015000 | 32]),
    ("VOP1 DPP", [0x7e000000 | 16 << 17 | 250], 9, 256, [0xff00e400 | 32, 0xff015000 | 32]),
    ("VINTRP", [0xd4000000 | 16 << 18 | 8], 16, 4, [None]),
    ("VOP3", [0xd0000000 | 16], 16, 0x380,
     [V + 32 | V + 48 << 9 | V + 64 << 18, V + 32 | V + 48 << 9, V + 32, V + 32 | 16 << 9, 0,
      16 | V + 48 << 9 | V + 64 << 18]),
    ("VOP3P", [0xd3800000 | 16], 16, 128,
     [0x18000000 | V + 32 | V + 48 << 9 | V + 64 << 18, V + 32 | V + 48 << 9 | V + 64 << 18,
      V + 32 | V + 48 << 9, V + 32]),
    ("DS", [0xd8000000], 17, 256, [0x20181008]),
    ("FLAT", [0xdc000000], 18, 128, [0x20001810, 0x207f1810]),
    ("SCRATCH", [0xdc004000], 18, 128, [0x207f1810, 0x20001810]),
    ("GLOBAL", [0xdc008000], 18, 128, [0x207f1810, 0x20001810]),
    ("MUBUF", [0xe0000000, 0xe0002000], 18, 128, [0x08041810]),
    ("MTBUF", [0xe8000000 | 4 << 19 | 4 << 23], 15, 16, [0x08041810]),
    ("MIMG", [0xf0000300], 18, 128, [0x00841810, 0x00041810]),
    ("EXP", [0xc400000f], 26, 1, [0x04030201]),
]

# Why something does not execute; the first pattern that fits counts.
REASONS = [
    (r"v_interp_|exp$|v_screen_partition|s_endpgm_ordered_ps_done", "graphics: no compute shader has these"),
    (r"s_rfe|s_endpgm_saved|s_sendmsghalt", "trap handlers and debuggers: there is none on the software GPU"),
    (r"s_cbranch_(g_fork|i_fork|join)|s_setvskip|s_scratch_(load|store)",
     "what no compiler emits: forks of the wave, skipping of vector instructions, scalar access to scratch"),
]


def candidates():
    """(format, opcode, [encodings to try])"""
    for name, heads, shift, opcodes, tails in FORMATS:
        for opcode in range(opcodes):
            tries = []
            for head in heads:
                for tail in tails:
                    words = [head | opcode << shift] + ([] if tail is None else [tail])
                    tries.append(words)
                    if name in ("SOPK", "VOP2"):  # some have a literal that belongs to them
                        tries.append(words + [0x3f9df3b6])
            yield name, opcode, tries


# s_nop 0xabcd and 0xabce, which end what is printed of one line: of an encoding that LLVM takes in part, or takes
# to be two instructions, it prints what it likes. The first may be swallowed as a literal.
MARKS = [0xbf80abcd], [0xbf80abce]
FIRST_MARK, LAST_MARK = "0xcd,0xab,0x80,0xbf", "0xce,0xab,0x80,0xbf"


def disassemble(llvm_mc, cpu, encodings):
    """For each list of dwords the mnemonic, or None where LLVM knows none of exactly that length."""
    text = "".join(" ".join(f"0x{b:02x}" for w in words for b in w.to_bytes(4, "little")) + "\n"
                   for encoding in encodings for words in (encoding, *MARKS))
    done = subprocess.run([llvm_mc, "--disassemble", "--arch=amdgcn", f"--mcpu={cpu}", "--show-encoding"],
                          input=text, capture_output=True, text=True, check=False)
    names, part = [], []
    for name, code in re.findall(r"^\s*(\S+).*encoding: \[(.*?)\]", done.stdout, re.M):
        if code != LAST_MARK:
            part += [(name, code.count("0x"))] if code != FIRST_MARK else []
            continue
        whole = len(part) == 1 and part[0][1] == len(encodings[len(names)]) * 4
        names.append(part[0][0] if whole else None)
        part = []
    assert len(names) == len(encodings), (cpu, len(names), len(encodings), done.stderr[-500:])
    return names


def plain(name):
    """For comparison: LLVM 15 prints older names of gfx942's matrix instructions."""
    return re.sub(r"_\d+b_|_", "", name) if name.startswith("v_mfma") else name


def encodable(llvm_mc, cpu):
    """[(format, mnemonic, dwords)]: the first filling of each opcode that LLVM takes."""
    rows = [(name, opcode, words) for name, opcode, tries in candidates() for words in tries]
    names = disassemble(llvm_mc, cpu, [row[2] for row in rows])
    found = {}
    for (form, opcode, words), name in zip(rows, names):
        if name and (form, opcode) not in found:
            found[form, opcode] = (form, re.sub(ENCODING_SUFFIX, "", name), words)
    return list(found.values())


def reason(name):
    for pattern, text in REASONS:
        if re.match(pattern, name):
            return text
    return None


def document(missing, totals):
    lines = ["# Instructions that the software GPU does not execute", "",
             "Written by `tests/encodings/encodings.py`, which puts every opcode that LLVM 15 disassembles for a GPU before",
             "the decoder; `make check` compares. An instruction of this list ends a kernel with an illegal instruction,",
             "its PC and its name. SDWA and DPP are encodings of their own.", "",
             "| GPU | encodings | executed |", "|---|---|---|"]
    lines += [f"| {gpu} | {total} | {total - gone} |" for gpu, total, gone in totals]
    for text in sorted({reason(name) or "?" for name, _ in missing}):
        lines += ["", f"## {text[0].upper()}{text[1:]}", "", "| instruction | format | GPUs |", "|---|---|---|"]
        lines += [f"| `{name}` | {form} | {' '.join(gpus)} |" for (name, form), gpus in sorted(missing.items())
                  if (reason(name) or "?") == text]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for option in ("--llvm-mc", "--answers", "--document"):
        parser.add_argument(option, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    missing, totals, errors = collections.defaultdict(list), [], []
    for gen, (gpu, cpu) in enumerate(TARGETS):
        rows = encodable(options.llvm_mc, cpu)
        text = "".join(f"{gen} {' '.join(f'{w:x}' for w in words)}\n" for _, _, words in rows)
        done = subprocess.run([options.answers], input=text, capture_output=True, text=True, check=True)
        answers = [line.split() for line in done.stdout.splitlines()]
        assert len(answers) == len(rows), (len(answers), len(rows))
        gone = 0
        for (form, name, words), (ours, verdict) in zip(rows, answers):
            if verdict != "executes":
                missing[name, form].append(gpu)
                gone += 1
                if not reason(name):
                    errors.append(f"{gpu}: {name} ({form}, {' '.join(f'{w:08x}' for w in words)}): {verdict}, no reason")
            elif plain(ours) != plain(name):
                errors.append(f"{gpu}: {name} ({form}) is executed as {ours}")
        totals.append((gpu, len(rows), gone))
    text, path = document(missing, totals), pathlib.Path(options.document)
    if options.write:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        errors.append(f"{path.name} is not what this says: run with --write")
    for gpu, total, gone in totals:
        print(f"{gpu}: {total} encodings, {gone} not executed")
    print("\n".join(errors))
    sys.exit(bool(errors) or min(total for _, total, _ in totals) < 1000)


main()
