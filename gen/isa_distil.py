#!/usr/bin/env python3
"""Distils LLVM's TableGen records for AMDGPU into data/isa/gfx9.isa.

Developer-time only: the result is committed, so a build never needs LLVM's sources.
Input:  llvm-tblgen --dump-json -I llvm/include -I llvm/lib/Target/AMDGPU .../AMDGPU.td
Usage:  isa_distil.py amdgpu.json > data/isa/gfx9.isa
"""
import json
import re
import sys

TARGETS = [("gfx906", "FeatureISAVersion9_0_6"), ("gfx908", "FeatureISAVersion9_0_8"),
           ("gfx90a", "FeatureISAVersion9_0_A"), ("gfx942", "FeatureISAVersion9_4_0")]

# How each encoding is recognised (mask, value over the first dword) and where its opcode lies.
# VOP1, VOPC come before VOP2 because they live in VOP2's space.
FORMATS = [
    # name      size mask        value       opcode: (low bit, width)
    ("SOP1",    4, 0xff800000, 0xbe800000, 8, 8),
    ("SOPC",    4, 0xff800000, 0xbf000000, 16, 7),
    ("SOPP",    4, 0xff800000, 0xbf800000, 16, 7),
    ("SOPK",    4, 0xf0000000, 0xb0000000, 23, 5),
    ("SOP2",    4, 0xc0000000, 0x80000000, 23, 7),
    ("SMEM",    8, 0xfc000000, 0xc0000000, 18, 8),
    ("VOP1",    4, 0xfe000000, 0x7e000000, 9, 8),
    ("VOPC",    4, 0xfe000000, 0x7c000000, 17, 8),
    ("VOP2",    4, 0x80000000, 0x00000000, 25, 6),
    ("VINTRP",  4, 0xfc000000, 0xd4000000, 16, 2),
    ("VOP3P",   8, 0xff800000, 0xd3800000, 16, 7),
    ("VOP3",    8, 0xfc000000, 0xd0000000, 16, 10),
    ("DS",      8, 0xfc000000, 0xd8000000, 17, 8),
    ("FLAT",    8, 0xfc00c000, 0xdc000000, 18, 7),
    ("SCRATCH", 8, 0xfc00c000, 0xdc004000, 18, 7),
    ("GLOBAL",  8, 0xfc00c000, 0xdc008000, 18, 7),
    ("MUBUF",   8, 0xfc000000, 0xe0000000, 18, 7),
    ("MTBUF",   8, 0xfc000000, 0xe8000000, 15, 4),
    ("MIMG",    8, 0xfc000000, 0xf0000000, 18, 7),
    ("EXP",     8, 0xfc000000, 0xc4000000, 0, 0),
]
NAMESPACE_RANK = {"GFX940": 5, "GFX90A": 4, "GFX9": 3, "GFX9_DL": 3, "GFX8": 2, "AMDGPU": 1, "": 1}
SKIPPED_NAMESPACE = re.compile(r"GFX1|GFX6|GFX7|SDWA|DPP|GFX80|WMMA")


class Records:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)
        self.features = {name: self.closure(version) for name, version in TARGETS}

        # PseudoInstr names its record in another case: v_add_f32_e32 for V_ADD_F32_e32.
        self.by_lower_name = {n.lower(): n for n in self.all["!instanceof"]["Instruction"]}

    def get(self, ref):
        return self.all[ref["def"]]

    def pseudo(self, name):
        return self.all.get(self.by_lower_name.get(name.lower()), {})

    def closure(self, version):
        seen, work = set(), [f["def"] for f in self.all[version]["Features"]]
        while work:
            feature = work.pop()
            if feature not in seen:
                seen.add(feature)
                work += [f["def"] for f in self.all[feature].get("Implies", [])]
        return seen

    def dag_holds(self, dag, have):
        """AssemblerCondDag: nested all_of / any_of / not over feature records."""
        operator = dag["operator"]["def"]
        results = []
        for arg, _ in dag["args"]:
            results.append(self.dag_holds(arg, have) if arg["kind"] == "dag" else arg["def"] in have)
        if operator == "not":
            return not results[0]
        return any(results) if operator == "any_of" else all(results)

    def predicate_holds(self, name, have):
        dag = self.all[name].get("AssemblerCondDag")
        return dag is None or not dag["args"] or self.dag_holds(dag, have)

    def targets_of(self, inst):
        names = {p["def"] for p in inst["Predicates"]}
        names.add(inst["AssemblerPredicate"]["def"])
        names |= {p["def"] for p in inst["OtherPredicates"]}
        names.add(inst["SubtargetPredicate"]["def"])
        mask = 0
        for bit, (target, _) in enumerate(TARGETS):
            if all(self.predicate_holds(n, self.features[target]) for n in names):
                mask |= 1 << bit
        return mask


def fixed_bits(inst):
    mask = value = 0
    for i, bit in enumerate(inst["Inst"][:64]):
        if isinstance(bit, int):
            mask |= 1 << i
            value |= bit << i
    return mask, value


def format_of(inst):
    mask, value = fixed_bits(inst)
    for name, _, fmask, fvalue, low, width in FORMATS:
        if mask & fmask == fmask and value & fmask == fvalue:
            field = ((1 << width) - 1) << low
            if mask & field != field:
                return None  # an opcode that is not fixed: no real instruction
            return name, (value & field) >> low
    return None


def operand_bits(records, ref):
    """Register width of an operand class."""
    name = ref["def"]
    record = records.all[name]
    if record.get("RegClass"):
        name = record["RegClass"]["def"]
    found = re.search(r"_(\d+)(?:_|$)", name)
    return int(found.group(1)) if found else 32


def is_class(records, ref, word):
    record = records.all[ref["def"]]
    name = record["RegClass"]["def"] if record.get("RegClass") else ref["def"]
    return name.startswith(word)


def suffix_type(mnemonic, bits, first):
    """The integer type that the mnemonic itself states for this width."""
    tokens = re.findall(r"(?<=_)([uibf])(\d+)(?=_|$)", mnemonic)
    if not first:
        tokens.reverse()
    for kind, width in tokens:
        if int(width) == bits:
            return kind + width
    return "b%d" % bits


def value_type(vt, mnemonic, first):
    if vt in ("untyped", "?"):
        return "-"
    if vt == "i1":
        return "m64"
    if vt in ("v4f16", "v4i16"):
        return "b64"
    if vt in ("v2i16", "v2f16", "v2bf16"):
        return "pki16" if vt == "v2i16" else "pk16"
    if vt == "v2f32" or vt == "v2i32" and mnemonic == "v_pk_mov_b32": # whose constants are those of 32 bits
        return "pkf32"
    if vt in ("f16", "f32", "f64"):
        return vt
    found = re.fullmatch(r"i(\d+)", vt)
    if found:
        kind = suffix_type(mnemonic, int(found.group(1)), first)
        return "b" + kind[1:] if kind[0] == "f" else kind
    found = re.fullmatch(r"v(\d+)[if](\d+)", vt)
    return "b%d" % (int(found.group(1)) * int(found.group(2)))


def vop_operands(records, inst, fmt, mnemonic):
    pseudo = records.pseudo(inst.get("PseudoInstr", ""))
    profile = None
    for holder in (inst, pseudo):
        for key in ("Pfl", "P"):
            if not profile and isinstance(holder.get(key), dict):
                profile = records.get(holder[key])
    outs = {a[1]: a[0] for a in inst["OutOperandList"]["args"]}
    ins = {a[1]: a[0] for a in inst["InOperandList"]["args"]}
    slots = {"dst": "-", "sdst": "-", "src0": "-", "src1": "-", "src2": "-"}
    if profile:
        vts = [v["def"] for v in profile["ArgVT"]]
        if vts[0] not in ("untyped", "isVoid"):
            slots["dst"] = value_type(vts[0], mnemonic, True)
        for i in range(3):
            slots["src%d" % i] = value_type(vts[1 + i], mnemonic, False)
    else:
        for name, slot in (("vdst", "dst"), ("src0", "src0"), ("src1", "src1"), ("src2", "src2")):
            ref = outs.get(name) or ins.get(name)
            if ref:
                slots[slot] = suffix_type(mnemonic, operand_bits(records, ref), slot == "dst")
    if fmt == "VOPC" or (fmt == "VOP3" and mnemonic.startswith("v_cmp")):
        slots["dst"], slots["sdst"], slots["src2"] = "-", "m64", "-"
    # VOP2 names only the written operands; VCC as carry is not among them.
    if "sdst" in outs or re.match(r"v_(add|sub|subrev|addc|subb|subbrev)_co_u32$", mnemonic):
        slots["sdst"] = "m64"
    if re.match(r"v_(addc|subb|subbrev)_co_u32$|v_cndmask_b32$|v_div_fmas_", mnemonic):
        slots["src2"] = slots["src2"] if "div_fmas" in mnemonic else "m64"
    elif slots["src2"] == "m64":
        slots["src2"] = "-"
    # The accumulator of a two-address instruction is its destination; v_cvt_sr fills a byte of it.
    if re.match(r"v_(mac|fmac|pk_fmac|dot\w*c|cvt_sr)_", mnemonic):
        slots["src2"] = "-"
    if fmt == "VOP1":  # v_swap states its second result as a source
        slots["src1"] = slots["src2"] = "-"
    # The literal is an operand like the others: D = S0 * S1 + S2 in the order of the text.
    if re.match(r"v_(mad|fma)[am]k_", mnemonic):
        slots["src1"] = slots["src2"] = slots["src0"]
    for slot, name in (("dst", "vdst"), ("src0", "src0"), ("src1", "src1"), ("src2", "src2")):
        ref = outs.get(name) or ins.get(name)
        if ref is None or slots[slot] in ("-", "m64"):
            continue
        if is_class(records, ref, "AGPR") or is_class(records, ref, "AReg"):
            slots[slot] = "a." + slots[slot]
        elif slot == "dst" and is_class(records, ref, "SReg"):
            slots[slot] = "s." + slots[slot]
    return slots


def memory_operands(records, inst, fmt, mnemonic):
    outs = {a[1]: a[0] for a in inst["OutOperandList"]["args"]}
    ins = {a[1]: a[0] for a in inst["InOperandList"]["args"]}
    slots = {"dst": "-", "sdst": "-", "src0": "-", "src1": "-", "src2": "-"}

    def wide(ref):
        return "b%d" % operand_bits(records, ref)
    if fmt == "SMEM":
        if "sdst" in outs:
            slots["dst"] = wide(outs["sdst"])
        if "sdata" in ins:
            slots["src1"] = wide(ins["sdata"])
        if "sbase" in ins:
            slots["src0"] = wide(ins["sbase"])
        return slots
    for name in ("vdst", "vdata"):
        if name in outs:
            slots["dst"] = wide(outs[name])
    for name, slot in (("addr", "src0"), ("vaddr", "src0"), ("vdata", "src1"), ("data0", "src1"),
                       ("data1", "src2")):
        if name in ins:
            slots[slot] = wide(ins[name])
    if fmt in ("MUBUF", "MTBUF"):
        slots["src0"] = "-"   # decided by OFFEN and IDXEN
        slots["src2"] = "b128" if "srsrc" in ins else "-"
    return slots


def scalar_operands(records, inst, fmt, mnemonic):
    outs = {a[1]: a[0] for a in inst["OutOperandList"]["args"]}
    ins = {a[1]: a[0] for a in inst["InOperandList"]["args"]}
    slots = {"dst": "-", "sdst": "-", "src0": "-", "src1": "-", "src2": "-"}

    def typed(ref, first):
        kind = suffix_type(mnemonic, operand_bits(records, ref), first)
        return "b" + kind[1:] if kind[0] == "f" else kind
    if "sdst" in outs:
        slots["dst"] = typed(outs["sdst"], True)
    for name in ("src0", "src1", "sdst"):
        if name in ins:
            slots["src0" if name == "sdst" else name] = typed(ins[name], False)
    if fmt == "SOP1" and "sdst" in ins:  # s_movreld: M0 moves the destination
        slots["dst"] = slots["src0"]
    if fmt == "SOPK" and slots["src0"] == "-" and "imm" not in mnemonic:
        if "sdst" not in ins and mnemonic.startswith(("s_cmpk", "s_addk", "s_mulk", "s_cmovk")):
            slots["src0"] = "b32"
    return slots


def class_of(fmt, mnemonic):
    if fmt.startswith("VOP") or fmt == "VINTRP":
        return "MFMA" if re.match(r"v_s?mfma", mnemonic) else "VALU"
    if fmt == "SOPP":
        for word, name in (("branch", "BRANCH"), ("waitcnt", "WAITCNT"), ("barrier", "BARRIER"),
                           ("sendmsg", "SENDMSG")):
            if word in mnemonic:
                return name
        return "OTHER"
    if re.match(r"s_(setpc|swappc|call|rfe)|s_cbranch", mnemonic):
        return "BRANCH"
    if fmt.startswith("SOP"):
        return "SALU"
    if fmt in ("SMEM", "EXP", "DS"):
        return {"SMEM": "SMEM", "EXP": "EXPORT", "DS": "LDS"}[fmt]
    if re.search(r"wb|inv", mnemonic):
        return "OTHER"
    writes = re.search(r"store|atomic", mnemonic)
    return ("FLAT_" if fmt == "FLAT" else "VMEM_") + ("WR" if writes else "RD")


def mnemonic_of(inst):
    text = re.match(r"[a-z0-9_]+", inst["AsmString"])
    if not text:
        return None
    return re.sub(r"_(e32|e64|sdwa|dpp|vi)$", "", text.group(0))


def collect(records):
    table = {}
    for name in records.all["!instanceof"]["Instruction"]:
        inst = records.all[name]
        if "SubtargetPredicate" not in inst or "Inst" not in inst or inst.get("isPseudo"):
            continue
        if SKIPPED_NAMESPACE.search(inst["DecoderNamespace"]) or inst.get("isAsmParserOnly"):
            continue
        place, mnemonic = format_of(inst), mnemonic_of(inst)
        mask = records.targets_of(inst)
        if not place or not mnemonic or not mask or "_pad_s_nop" in mnemonic:
            continue
        fmt, opcode = place
        if fmt in ("MUBUF", "MTBUF") and "tfe" in name.lower():
            continue
        reader = (vop_operands if fmt.startswith("VOP") else scalar_operands if fmt.startswith("SOP")
                  else memory_operands)
        slots = reader(records, inst, fmt, mnemonic) if fmt not in ("MIMG", "EXP", "VINTRP") else {
            s: "-" for s in ("dst", "sdst", "src0", "src1", "src2")}
        rank = NAMESPACE_RANK.get(inst["DecoderNamespace"], 0)
        for bit in range(len(TARGETS)):
            if mask >> bit & 1:
                key = (fmt, opcode, bit)
                entry = (rank, mnemonic, tuple(slots.values()))
                old = table.get(key)
                if old is None or old[0] < rank:
                    table[key] = entry
                elif old[0] == rank and old[1] == mnemonic:
                    # several addressing or return modes of one opcode: the union of their operands
                    merged = tuple(a if a != "-" else b for a, b in zip(old[2], entry[2]))
                    table[key] = (rank, mnemonic, merged)
                elif old[0] == rank:
                    print("conflict", key, old, entry, file=sys.stderr)
    return table


def main():
    records = Records(sys.argv[1])
    table = collect(records)
    rows = {}
    for (fmt, opcode, bit), (_, mnemonic, slots) in table.items():
        rows.setdefault((fmt, opcode, mnemonic, slots), 0)
        rows[(fmt, opcode, mnemonic, slots)] |= 1 << bit
    order = [f[0] for f in FORMATS]
    print("# The gfx9 instruction set of gfx906, gfx908, gfx90a and gfx942, one line per encoding.")
    print("# Written by gen/isa_distil.py from LLVM 15's target description; checked against")
    print("# llvm-mc by softgpu/isa/decode_test.c. Operand types: b/i/u/f + bits, pk16 (two f16),")
    print("# pki16 (two integers), pkf32 (two floats), m64 (lane mask, VCC where the encoding has no field")
    print("# for it); prefix a. accumulation register, s. scalar register; - none.")
    print("# targets: bit 0 gfx906, 1 gfx908, 2 gfx90a, 3 gfx942")
    print("# format opcode mnemonic targets class dst sdst src0 src1 src2")
    for fmt, opcode, mnemonic, slots in sorted(rows, key=lambda r: (order.index(r[0]), r[1], r[2], r[3])):
        mask = rows[(fmt, opcode, mnemonic, slots)]
        print(fmt, "0x%02x" % opcode, mnemonic, "0x%x" % mask, class_of(fmt, mnemonic), *slots)


if __name__ == "__main__":
    main()
