"""Command buffers of our libhsa-amd-aqlprofile64 beside those of AMD's: the same effect on the hardware?

    beside_amd_test.py PACKETS OURS ROOT

PACKETS is the program of beside_amd_packets.c, ROOT a root by scripts/debian_root.sh in which AMD's library lies
(/amd). Both are asked the same, for every block of every GPU. Equal must be: which counter is read for
which sample, where in the engines and on which die, and what every register holds there when counting starts and when
it has stopped. How a register is written, in which order where order does not matter, and how wide is
read, is the builder's own. KNOWN lists what is not equal, and why; what is listed and equal is told.
"""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "../..")
GPUS = ("gfx906 1 4 60 1", "gfx908 1 8 120 1", "gfx90a 1 8 104 1", "gfx942 8 32 304 1",
        "gfx942 6 24 228 1", "gfx942 1 4 38 1", "gfx950 8 32 256 1", "gfx1010 1 2 40 2",
        "gfx1030 1 4 80 2", "gfx1100 1 6 96 2", "gfx1101 1 3 60 2", "gfx1102 1 2 32 2",
        "gfx1151 1 2 40 2", "gfx1200 1 2 32 2", "gfx1201 1 4 64 2")

# GPU and its dies, block, kind of difference: why. The first that matches counts.
KNOWN = [(re.compile(gpu + "$"), re.compile(block + "$"), re.compile(kind + "$"), why)
         for gpu, block, kind, why in (
    ("gfx9.*", "SDMA", "only ours", "AMD's has no SDMA counters outside of gfx12 any more"),
    ("gfx9(42|50)/1", "ATC|RPB", ".*",
     "a die by itself reaches its own base die's instance, AMD's counts those of four"),
    ("gfx90[06]/1", "SQ", "status", "AMD's accumulates nothing on GPUs before gfx908"),
    ("gfx9(42|50)/[68]", "ATC|RPB", "start", "AMD's sets an index, which these do not have"),
    ("gfx9(42|50)/[68]", "ATC|RPB", "samples",
     "AMD's reports a value for each die, and only the first has been read"),
    ("gfx9.*", "SX|GDS", "start", "AMD's selects event 0, whatever is asked for"),
    ("gfx9.*", "SQ_CS", "start", "compute alone is counted; AMD's counts all stages"),
    ("gfx1010/1", "GCEA|GUS", ".*", "AMD's uses the registers of gfx10.3, which lie elsewhere"),
    ("gfx1[01].*", "GUS", ".*",
     "AMD's neither starts the block nor chooses the counter that is read"),
    ("gfx11.*", "GCR", "start|stop", "AMD's does not start the counters for it alone"),
    ("gfx1151/1", "GL2C", "instances|samples", "there are 8, as AMD has said since"),
    ("gfx1[12].*", "SQ|TA|TD|TCP", "place",
     "AMD's gives samples of a work-group processor the coordinates of another one"),
    ("gfx12.*", "SQ", "counters|status", "AMD's says 16 and cannot select the upper 8"),
    ("gfx12.*", "GL1A", "place", "AMD's reads both shader arrays at once, twice"),
    ("gfx12.*", "SDMA", "place|start", "AMD's sets an index, which the block does not have"),
    ("gfx12.*", "TA|TD|TCP", "samples",
     "AMD's reads each work-group processor, and has no coordinate for them"),
    ("gfx12.*", "SQG", "samples", "AMD's has work-group processors as a coordinate, which the block is not in"),
    ("gfx1010/1", "trace", ".*", "gfx10.1 lacks fields of gfx10.3, and has a kind of token more"),
)]
# Beside others AMD's reads these first, and reports all in the order in which they were asked for.
OUTSIDE = ("ATC", "RPB", "GC_UTCL2", "GC_VML2")
# Blocks with one result register behind a control register: what it holds belongs to the place.
CONTROLLED = ("MCVML2", "ATC", "ATCL2", "GCEA", "RPB", "GUS", "GC_UTCL2", "GC_VML2")

COMPUTE = range(0x2c00, 0x3000)  # the queue's own registers, which no index applies to
GRBM_GFX_INDEX, SPACES = 0xc200, {0x79: 0xc000, 0x76: 0x2c00, 0x68: 0x2000}
PRED_EXEC, COPY_DATA = 0x23, 0x40
REGISTERS, MEMORIES = (0, 4), (1, 2, 5)


def packets(dwords):
    """Yields (die mask, opcode, body); a mask of 0: all dies."""
    at, dies, end = 0, 0, 0
    while at < len(dwords):
        length = (dwords[at] >> 16 & 0x3fff) + 2
        opcode, body = dwords[at] >> 8 & 0xff, dwords[at + 1:at + length]
        assert dwords[at] >> 30 == 3 and len(body) == length - 1
        dies = dies if at < end else 0
        at += length
        if opcode == PRED_EXEC:
            dies, end = body[0] >> 24, at + (body[0] & 0x3fff)
        else:
            assert at <= end or not dies
            yield dies, opcode, body


def accesses(dwords):
    """Yields ("write", dies, register, value), ("read", dies, register, address), ("fill", dies, value, address)."""
    for dies, opcode, b in packets(dwords):
        if opcode in SPACES:
            for i, value in enumerate(b[1:]):
                yield "write", dies, SPACES[opcode] + (b[0] & 0xffff) + i, value
        elif opcode == COPY_DATA:
            source, target = b[0] & 15, b[0] >> 8 & 15
            first, second = b[1] | b[2] << 32, b[3] | b[4] << 32
            if source == 5:
                yield "write" if target in REGISTERS else "fill", dies, \
                    second if target in REGISTERS else b[1], \
                    b[1] if target in REGISTERS else second
            elif source in REGISTERS and target in MEMORIES:
                for half in range(1 + (b[0] >> 16 & 1)):
                    yield "read", dies, first + half, second + 4 * half


def index_of(value):
    """Engine, array, instance; None: all."""
    return (None if value >> 31 else value >> 16 & 0xff,
            None if value >> 29 & 1 else value >> 8 & 0xff,
            None if value >> 30 & 1 else value & 0xff)


def reads(dwords, is_controlled):
    """Address -> what is there after a read: dies, index, register, and the control before it."""
    index, control, found = (None,) * 3, {}, {}
    for kind, dies, what, value in accesses(dwords):
        if kind == "write" and what == GRBM_GFX_INDEX:
            index = index_of(value)
        elif kind == "write":
            control[dies, index] = (what, value)
        elif kind == "read":
            found[value] = (dies, index, what) + \
                ((control.get((dies, index)),) if is_controlled else ())
        else:
            found[value] = what
    return found


def state(dwords, places):
    """What registers hold in the end, at each place: a die, and an index there."""
    index, held = (None,) * 3, {}
    for kind, dies, what, value in accesses(dwords):
        if kind == "write" and what == GRBM_GFX_INDEX:
            index = index_of(value)
        elif kind == "write":
            for die, *place in places:
                if (not dies or dies >> die & 1) and \
                        (what in COMPUTE or all(a is None or a == b
                                                for a, b in zip(index, place))):
                    held[(die, *place), what] = value
    return held


class Answer:
    def __init__(self):
        self.status, self.has, self.streams, self.buffers, self.data = None, None, {}, {}, []

    def take(self, word, rest):
        if word == "status":
            self.status = int(rest[0])
        elif word == "has":
            self.has = tuple(map(int, rest))
        elif word == "buffer":
            self.buffers[int(rest[0])] = int(rest[1], 16)
        elif word == "data":
            self.data.append(rest)
        else:
            self.streams[word] = [int(dword, 16) for dword in rest]

    def samples(self):
        """(event, coordinates) -> where the value's halves were read from."""
        both, samples = [reads(self.streams["read"], controlled) for controlled in (0, 1)], {}
        for event, value, *coordinates in self.data:
            found = both[event.split(":")[0] in CONTROLLED]
            at = [self.buffers[half >> 28] + (half & 0xfffffff)
                  for half in (int(value, 16) & 0xffffffff, int(value, 16) >> 32)]
            key = event, tuple(sorted(c for c in coordinates if c != "INSTANCE=0/1"))
            samples[key] = found.get(at[0], 0), found.get(at[1], 0)
        return samples


def ask(program, root, library, lines):
    """A process for each GPU: AMD's library remembers what the runtime told of the first one."""
    answers = collections.defaultdict(Answer)
    begins = [number for number, line in enumerate(lines) if line.startswith("gpu ")]
    for begin, end in zip(begins, begins[1:] + [len(lines)]):
        run = subprocess.run([os.path.join(SOURCE, "scripts/debian_run.sh"), root, program, library],
                             input="\n".join(lines[begin:end]) + "\n", capture_output=True,
                             text=True, timeout=300)
        for line in run.stdout.splitlines():
            word, *rest = line.split()
            if word == "line":
                answer = answers[begin + int(rest[0])]
            else:
                answer.take(word, rest)
        if len(answers) != end:
            sys.exit(f"{library}: it ended at {lines[len(answers) - 1]}: {run.stderr}")
    return answers


def blocks():
    """Name -> the last event of all."""
    found = {}
    for generation in ("gfx9", "gfx10", "gfx11", "gfx12"):
        path = os.path.join(SOURCE, f"data/blocks/{generation}.blocks")
        with open(path, encoding="utf-8") as file:
            for fields in (line.split("#")[0].split() for line in file):
                lasts = [int(field.split(":")[1]) for field in fields[6:]
                         if re.match(r"\d+:\d+$", field)]
                if lasts:
                    found[fields[0]] = min(lasts + [found.get(fields[0], 9999)])
    return found


def cases_of(name, last, instances, counters):
    """One event, the last event, all counters, all instances, all of both."""
    events = [min(event, last) for event in range(1, counters + 1)]
    yield [(0, events[0])]
    yield [(0, last)]
    yield [(0, event) for event in events]
    if instances > 1:
        yield [(instances - 1, events[0])]
        yield [(instance, events[0]) for instance in range(instances)]
    if 1 < instances * counters <= 512:
        yield [(instance, event) for event in events for instance in range(instances)]


def questions(ask_both):
    """The lines to ask, each with its GPU and block."""
    names, found = blocks(), []
    lines = [line for gpu in GPUS for line in [f"gpu {gpu}"] + [f"block {name}" for name in names]]
    ours, amds = ask_both(lines)
    for number, line in enumerate(lines):
        word, name, *rest = line.split()
        if word == "gpu":
            shared = [block for i, block in enumerate(names, number + 1)
                      if ours[i].has and amds[i].has]
            gpu = f"{name}/{rest[0]}"
            found.append((gpu, None, line))
            # Before the counters: what AMD's makes for those knows no clock, and serves traces then.
            for engines in ("5:1", "5:2", "5:3"):
                for mode in ("", " 9:1", " 0:3 8:1", " 12:2"):
                    found.append((gpu, "trace", f"trace 10:1000000 {engines}{mode}"))
            found.append(mixed(gpu, shared))
            continue
        mine, theirs = ours[number].has, amds[number].has
        if mine and theirs:
            smaller = [min(a, b) for a, b in zip(mine, theirs)]
            found += [(gpu, name, "case " + " ".join(f"{name}:{i}:{e}:0" for i, e in case))
                      for case in cases_of(name, names[name], *smaller)]
            if name == "SQ":
                found += [(gpu, name, f"case SQ:0:4:{flags} SQ:0:5:0") for flags in (1, 2)]
        for kind, a, b in zip(("instances", "counters"), mine or (0, 0), theirs or (0, 0)):
            if a != b:
                yield gpu, name, kind if mine and theirs else \
                    "only ours" if mine else "only AMD's", f"{a}, AMD's {b}"
    yield found


def mixed(gpu, shared):
    """One event of each block that both have, and of which nothing is known."""
    names = [name for name in shared if name not in OUTSIDE
             and not any(gpus.match(gpu) and blocks.match(name) for gpus, blocks, *_ in KNOWN)]
    return gpu, "mixed", "case " + " ".join(f"{name}:0:1:0" for name in names)


def differences(block, mine, theirs):
    """Yields (kind, example)."""
    if (mine.status == 0) != (theirs.status == 0):
        yield "status", f"{mine.status}, AMD's {theirs.status}"
    if mine.status or theirs.status or not mine.streams or not theirs.streams:
        return
    places = {(die, engine, 0, 0) for die in (0, 1) for engine in range(4)}
    if block != "trace":
        a, b = mine.samples(), theirs.samples()
        if a.keys() != b.keys():
            yield "samples", f"{len(a)}, AMD's {len(b)}"
        for key in a.keys() & b.keys():
            if a[key] != b[key]:
                yield "place", f"{key}: {a[key]}, AMD's {b[key]}"
        places = {(max(place[0].bit_length() - 1, 0), *(n or 0 for n in place[1]))
                  for halves in a.values() for place in halves if isinstance(place, tuple)}
    for stream in ("start", "stop"):
        a, b = state(mine.streams[stream], places), state(theirs.streams[stream], places)
        for key in sorted(a.keys() | b.keys(), key=str):
            if a.get(key) != b.get(key):
                yield stream, f"{key[1]:#x} at {key[0]}: {a.get(key)}, AMD's {b.get(key)}"


def main(program, library, root):
    amd = os.path.join(root, "amd/libhsa-amd-aqlprofile64.so.1")
    if not os.path.exists(amd):
        print(f"AMD's library is not in {root}: {amd}")
        return 77

    def ask_both(lines):
        return ask(program, root, library, lines), ask(program, root, amd, lines)

    met, counts, bad = collections.Counter(), collections.Counter(), collections.defaultdict(list)

    def judge(gpu, block, kind, example):
        for gpus, names, kinds, why in KNOWN:
            if gpus.match(gpu) and names.match(block) and kinds.match(kind):
                met[why] += 1
                return
        bad[f"{gpu} {block} {kind}"].append(example)

    *found, asked = questions(ask_both)
    for difference in found:
        judge(*difference)
    ours, amds = ask_both([line for _, _, line in asked])
    for number, (gpu, block, line) in enumerate(asked):
        if block is None:
            continue
        seen = set()
        for kind, example in differences(block, ours[number], amds[number]):
            if kind not in seen:
                judge(gpu, block, kind, f"{line[:60]}: {example}")
            seen.add(kind)
        counts["equal" if not seen else "different"] += 1
    for why in (entry[3] for entry in KNOWN):
        print(f"{met[why]:5} {why}" + ("" if met[why] else " (no longer)"))
    print(f"{counts['equal']} cases with the same effect, {counts['different']} with another one, "
          f"{sum(map(len, bad.values()))} of these for no known reason")
    for what, examples in bad.items():
        print(f"{what}, {len(examples)} times: {examples[0]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
