#!/usr/bin/env python3
"""data/counters/events.txt -> docs/software_gpu_counters.md.

usage: gen_events_doc.py EVENTS OUTPUT            writes the page
       gen_events_doc.py --check EVENTS OUTPUT    exits 1 when the page is not what would be written
"""
import pathlib
import sys

GPUS = ["gfx906", "gfx908", "gfx90a", "gfx942"]
HEAD = """# Counters of the software GPU

Generated from `data/counters/events.txt` by `gen/gen_events_doc.py`; `crocgpu events [GPU...]`
prints the same list. The profiler does not know that a GPU is software: the device itself says
what its values are worth, in a file of its topology that the profiler's tables go by (decision 0019).

- **exact**: equals what executed.
- **modelled**: from a deterministic model of caches, LDS banks, address coalescing: the same run
  gives the same value, with any number of host threads.
- **approximate**: cycles of the simple clock in `softgpu/perf/README.md`; equally reproducible, but
  not the cycles of hardware.
- **none**: not modelled, reads 0.

The same run means: the same kernels one after another, the same sizes mapped in the same order, and the same
alignment of the program's data. What a program changes from run to run shows in its numbers, as on
hardware; seen in programs that are the same otherwise:

- Memory of malloc() that is copied or registered is used in place, and malloc() gives other alignments
  when threads of the runtime have allocated and freed in another order. Look-ups, requests and time
  then differ (`textures`: copies with TCP_TOTAL_ACCESSES 4780 to 4822;
  `host_memory`: 150016 or 600016).
- All counters but the sequencers' see kernels that the runtime launches for itself, on queues which
  no profiler sees, when one of them overlaps a counted kernel (`streams`, `threads`: copies beside the
  first small kernels; modelled time is that of the kernel alone).
- Waves that wait for others in a loop go round as often as the host lets them (`cooperative`: `ring`).
- Threads that allocate at the same time get their memory in either order.

The numbers are what selects the event on each GPU; `-`: no such event there.
"""


def page(events):
    rows = [line.split() for line in events.read_text().splitlines()
            if line.strip() and not line.startswith("#")]
    lines, block = [HEAD], None
    counts = {}
    for row in rows:
        counts[row[2]] = counts.get(row[2], 0) + 1
    lines.append("Of %d events %s.\n" % (len(rows), ", ".join(
        "%d are %s" % (counts[name], name) for name in ("exact", "modelled", "approximate", "none"))))
    for row in rows:
        if row[0] != block:
            block = row[0]
            lines += ["\n## %s\n" % block, "| event | class | %s |" % " | ".join(GPUS),
                      "|---|---|%s" % ("---:|" * len(GPUS))]
        lines.append("| %s | %s | %s |" % (row[1], row[2], " | ".join(row[4:8])))
    return "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    check = arguments[0] == "--check"
    events, output = (pathlib.Path(a) for a in arguments[check:])
    if not check:
        output.write_text(page(events))
    elif output.read_text() != page(events):
        sys.exit(f"{output} is out of date: run gen/gen_events_doc.py {events} {output}")


main()
