#!/usr/bin/env python3
"""rocprofv3's files of counters, which have a line for each value, as one file with a line for each kernel.

    convert-counters-collection-format.py -i FILE|DIRECTORY ... -o FILE [--retain-agent-prefix [BOOL]]

Of a directory those files are taken whose names end in counter_collection.csv and which lie in, or below, a folder "pmc_N": what
rocprofv3 writes for an input file of several lines.
"""
import argparse
import csv
import os
import sys

# What a kernel's lines have in common, in the order of the columns.
KERNEL = ["Dispatch_Id", "Agent_Id", "Grid_Size", "Kernel_Name", "LDS_Block_Size", "Queue_Id", "SGPR_Count", "Scratch_Size",
          "VGPR_Count", "Workgroup_Size"]
WANTED = KERNEL + ["Counter_Name", "Counter_Value"]
TRUTHS = {"y": True, "yes": True, "t": True, "true": True, "on": True, "1": True,
          "n": False, "no": False, "f": False, "false": False, "off": False, "0": False}


def truth(text):
    if text.lower() not in TRUTHS:
        raise argparse.ArgumentTypeError(f"{text} is neither yes nor no")
    return TRUTHS[text.lower()]


def line_read():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-i", "--input", nargs="+", required=True, help="files of counters, and directories that have some")
    parser.add_argument("-o", "--output", required=True, help="the file that is written")
    parser.add_argument("-d", "--debug", action="store_true", help="say what is unexpected, and what --verbose says")
    parser.add_argument("-v", "--verbose", action="store_true", help="say which files are read and written")
    parser.add_argument("--retain-agent-prefix", nargs="?", const=True, default=False, type=truth, metavar="BOOL",
                        help='agents as "Agent 1" instead of "1"')
    return parser.parse_args()


def files_find(words):
    found = []
    for word in words:
        if os.path.isfile(word):
            found.append(word)
        for folder, below, files in os.walk(word):
            below.sort()
            if "pmc_" in folder:
                found += [os.path.join(folder, file) for file in sorted(files) if file.endswith("counter_collection.csv")]
    return found


def order(text):
    """Numbers by their value, in front of texts."""
    try:
        return (0, int(text), "")
    except ValueError:
        return (1, 0, text)


def values_read(paths, says):
    """{what a kernel's lines have in common: {counter: value}}; of a counter in several files the first one's value."""
    kernels = {}
    for path in paths:
        says(f"reading {path}")
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in WANTED if name not in (reader.fieldnames or [])]
            if missing:
                raise ValueError(f"{path}: no column {missing[0]}")
            for row in reader:
                if any(row[name] is None for name in WANTED):
                    continue  # a line that was cut short
                values = kernels.setdefault(tuple(row[name] for name in KERNEL), {})
                values.setdefault(row["Counter_Name"], row["Counter_Value"])
    return kernels


def values_write(path, kernels, retains):
    counters = sorted({counter for values in kernels.values() for counter in values})
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(KERNEL + counters)
        for kernel in sorted(kernels, key=lambda kernel: [order(text) for text in kernel]):
            shown = list(kernel)
            if not retains:
                shown[1] = shown[1].rsplit(" ", 1)[-1]
            writer.writerow(shown + [kernels[kernel].get(counter, "") for counter in counters])


def main():
    line = line_read()
    says = (lambda text: print(text, file=sys.stderr)) if line.verbose or line.debug else (lambda text: None)
    try:
        paths = files_find(line.input)
        if not paths:
            raise ValueError("no file of counters in " + " ".join(line.input))
        kernels = values_read(paths, says)
        says(f"writing {line.output}")
        values_write(line.output, kernels, line.retain_agent_prefix)
    except (OSError, ValueError, csv.Error) as error:
        sys.exit(f"convert-counters-collection-format: {error}")


if __name__ == "__main__":
    main()
