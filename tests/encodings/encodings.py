#!/usr/bin/env python3
"""Every opcode of every format, as LLVM's disassembler knows it for each GPU, put before the software
GPU's decoder: docs/software_gpu_encodings.md lists what it does not execute, and why. What is on no
list of reasons, or is decoded as another instruction, is an error. What executes is then drawn again with
other operands and modifiers: those that LLVM takes must execute, too.

usage: encodings.py --llvm-mc FILE --answers FILE --document FILE [--write]"""
import argparse
import collections
import pathlib
import random
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


# Bits of both dwords that are operands and modifiers, for what is drawn. Formats that are not here have none
# worth it: immediates alone, or fields of which most are no operand. LLVM 15 crashes where SDWA selects what is none.
DRAWN = {
    "SOP2": (0x007fffff, 0), "SOP1": (0x007f00ff, 0), "SOPC": (0x0000ffff, 0), "SMEM": (0x0003ffff, 0x001fffff),
    "VOP2": (0x01ffffff, 0), "VOP1": (0x01fe01ff, 0), "VOPC": (0x0001ffff, 0),
    "VOP2 SDWA": (0x01fffe00, 0xbebefeff), "VOP1 SDWA": (0x01fe0000, 0x00befeff), "VOPC SDWA": (0x0001fe00, 0xbebeffff),
    "VOP2 DPP": (0x01fffe00, 0xfff8ffff), "VOP1 DPP": (0x01fe0000, 0xff38ffff), "VOP3": (0x0000ffff, 0xffffffff),
    "VOP3P": (0x0000ffff, 0xffffffff), "DS": (0x0000ffff, 0xffffffff), "FLAT": (0x00030fff, 0xff80ffff),
    "SCRATCH": (0x00031fff, 0xfffff0ff), "GLOBAL": (0x00031fff, 0xffffffff), "MUBUF": (0x0002ffff, 0xff1fffff),
    "MTBUF": (0x03f87fff, 0xff1fffff), "MIMG": (0x0203ff00, 0x83ffffff)}
DRAWS = 4
# What LLVM takes, or prints so that one sees it, and no compiler emits.
NO_OPERANDS = re.compile("|".join([
    r"[ -|,]null\b", r"nvalid", r"is not supported on", r" tfe", r"b32 src_",  # not gfx9's, or nothing at all
    r" gds$", r"src_lds_direct", r"src_pops_exiting_wave_id",                # graphics and GDS
    r"^v_.*src_(shared|private)_(base|limit)",  # the apertures, which LLVM reads by s_mov_b64 alone
    r"^t?buffer_.*, src_",                      # a condition as an offset
    r"^s_(buffer_|atc_probe_buffer|atomic).* exec,", # four registers from exec on
    r"^v_(swap_b32|accvgpr_mov_b32) ",          # it prints scalars as vector registers
    r"^image_.*( lwe|\bv\[?25\d)",              # and one register where there are several
    r"^v_cmpx?_\S+ src_",                       # a condition as a destination
    r"^image_atomic_(?!cmpswap)(?!.* dmask:0x[13]\b)|^image_atomic_cmpswap(?!.* dmask:0x[3f]\b)",  # registers it has not
    r"^v_mfma_f64.*(cbsz|blgp|abid)",           # double precision has no blocks and lane groups to choose
    r"^v_mfma.*, s(\d|\[)|^v_mfma.*(vcc|exec|ttmp|flat_scratch|xnack_mask|m0)"]))  # nor scalar matrices


# s_nop 0xabcd and 0xabce, which end what is printed of one line: of an encoding that LLVM takes in part, or takes
# to be two instructions, it prints what it likes. The first may be swallowed as a literal.
MARKS = [0xbf80abcd], [0xbf80abce]
FIRST_MARK, LAST_MARK = "0xcd,0xab,0x80,0xbf", "0xce,0xab,0x80,0xbf"


def disassemble(llvm_mc, cpu, encodings):
    """For each list of dwords the text, or None where LLVM knows none of exactly that length."""
    text = "".join(" ".join(f"0x{b:02x}" for w in words for b in w.to_bytes(4, "little")) + "\n"
                   for encoding in encodings for words in (encoding, *MARKS))
    done = subprocess.run([llvm_mc, "--disassemble", "--arch=amdgcn", f"--mcpu={cpu}", "--show-encoding"],
                          input=text, capture_output=True, text=True, check=False)
    names, part = [], []
    for name, code in re.findall(r"^\s*(\S.*?)\s*(?:;|//) encoding: \[(.*?)\]", done.stdout, re.M):
        if code != LAST_MARK:
            part.append((name, code))
            continue
        given = encodings[len(names)]
        # Of nothing and an instruction that is the second dword, or that dword and the first mark, it prints one.
        whole = (len(part) == 2 and part[1][1] == FIRST_MARK and part[0][1].count("0x") == len(given) * 4 and
                 int(part[0][1][15:19], 16) >> 2 == given[0] >> 26)
        names.append(part[0][0] if whole else None)
        part = []
    assert len(names) == len(encodings), (cpu, len(names), len(encodings), done.stderr[-500:])
    return names


def plain(name):
    """For comparison: LLVM 15 prints older names of gfx942's matrix instructions."""
    return re.sub(r"_\d+b_|_", "", name) if name.startswith("v_mfma") else name


def mnemonic(text):
    return re.sub(ENCODING_SUFFIX, "", text.split()[0])


def encodable(llvm_mc, cpu):
    """[(format, mnemonic, dwords)]: the first filling of each opcode that LLVM takes."""
    rows = [(name, opcode, words) for name, opcode, tries in candidates() for words in tries]
    names = disassemble(llvm_mc, cpu, [row[2] for row in rows])
    found = {}
    for (form, opcode, words), name in zip(rows, names):
        if name and (form, opcode) not in found:
            found[form, opcode] = (form, mnemonic(name), words)
    return list(found.values())


def reason(name):
    for pattern, text in REASONS:
        if re.match(pattern, name):
            return text
    return None


def answers_of(program, gen, encodings):
    """[(mnemonic, verdict)] of our decoder and tables of handlers."""
    text = "".join(f"{gen} {' '.join(f'{w:x}' for w in words)}\n" for words in encodings)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    answers = [line.split() for line in done.stdout.splitlines()]
    assert len(answers) == len(encodings), (len(answers), len(encodings))
    return answers


def drawn(form, words, rng):
    """The same opcode with other operands. Each field changes in about half of the draws, so that most are legal."""
    changed = []
    for word, mask in zip(words, DRAWN[form]):
        bits = rng.choice([mask, mask & rng.getrandbits(32), mask & 0xff, mask & 0x00ffff00, 0])
        changed.append(word & ~bits | rng.getrandbits(32) & bits)
    if form == "VOP3P":
        changed[1] |= V | V << 9 | V << 18  # LLVM 15 crashes on some scalars
    return changed + words[2:]


def operands_refused(options, gen, cpu, rows):
    """(how many draws LLVM takes, what does not execute of them)."""
    rng = random.Random(cpu)
    tries = [drawn(form, words, rng) for form, name, words in rows if form in DRAWN and not reason(name) for _ in range(DRAWS)]
    taken = [(words, text) for words, text in zip(tries, disassemble(options.llvm_mc, cpu, tries)) if text]
    taken = [(words, text) for words, text in taken if not NO_OPERANDS.search(text) and not reason(mnemonic(text))]
    answers = answers_of(options.answers, gen, [words for words, _ in taken])
    return len(taken), [f"{cpu}: {text} ({' '.join(f'{w:08x}' for w in words)}): {verdict}"
                        for (words, text), (_, verdict) in zip(taken, answers) if verdict != "executes"]


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
        answers = answers_of(options.answers, gen, [words for _, _, words in rows])
        taken, refused = operands_refused(options, gen, cpu, rows)
        print(f"{gpu}: {taken} draws of operands")
        errors += refused + ([f"{gpu}: only {taken} draws"] if taken < 2000 else [])
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
