"""Each option of the table once, in every spelling, by what the program is told: its environment.

    each_option_test.py CROCPROF ROWS_PROGRAM OPTION_LIST

The rows are those that help and manual page are made of. An option that is not in a list here, and has no variable whose value
is what was said, fails: whoever adds one says what it does.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

from crocprof_run import Checks

CROCPROF, ROWS, OPTION_LIST = sys.argv[1:]
COLUMNS = ("section", "name", "letter", "value", "default", "variable", "help")
checks = Checks()
work = tempfile.mkdtemp()
counters_file = os.path.join(work, "extra.yaml")
input_file = os.path.join(work, "jobs.txt")
gone = subprocess.Popen(["true"])
gone.wait()

# A value for each kind of value, by what the table calls it; and what it becomes, where that is another text.
VALUES = {"NAME": "a_name", "DIR": work, "FILE": os.path.join(work, "a_file"), "KB": "3", "REGEX": "a.*b",
          "REGEX ...": "KERNEL|COPY", "N[-M] ...": "0-3,8", "[N-M] ...": "[1,4-7]", "LIBRARY ...": "/none/such.so", "MS": "5"}
PAIRED = {"mpi-world-rank-variable": ["--mpi-world-size-variable", "SIZE"],
          "mpi-world-size-variable": ["--mpi-world-rank-variable", "RANK"]}


def sees(*lines):
    return lambda done, text: all(re.search("^" + line + "$", text, re.M) for line in lines)


def says(status, text):
    return lambda done, out: done.returncode == status and text in done.stderr + done.stdout


TRACES = ["ROCPROF_KERNEL_TRACE=1", "ROCPROF_HIP_RUNTIME_API_TRACE=1", "ROCPROF_MARKER_API_TRACE=1"]
HSA = ["ROCPROF_HSA_CORE_API_TRACE=1", "ROCPROF_HSA_AMD_EXT_API_TRACE=1", "ROCPROF_HSA_IMAGE_EXT_API_TRACE=1"]
# Options whose effect is not simply their variable: value, what must be seen.
EFFECTS = {
    "runtime-trace": (None, sees(*TRACES, "ROCPROF_SCRATCH_MEMORY_TRACE=1", "ROCPROF_RCCL_API_TRACE=1",
                                 "ROCPROF_ROCSHMEM_API_TRACE=1", "ROCPROF_HIPFILE_API_TRACE=1",
                                 "ROCPROF_KFD_QUEUE_TRACE=1", "ROCPROF_KFD_DROPPED_EVENTS_TRACE=1")),
    "sys-trace": (None, sees(*TRACES, *HSA, "ROCPROF_HIP_COMPILER_API_TRACE=1", "ROCPROF_KFD_PAGE_MIGRATION_TRACE=1")),
    "hip-trace": (None, sees("ROCPROF_HIP_RUNTIME_API_TRACE=1", "ROCPROF_HIP_COMPILER_API_TRACE=1")),
    "hsa-trace": (None, sees(*HSA)),
    "kfd-trace": (None, sees("ROCPROF_KFD_QUEUE_TRACE=1", "ROCPROF_KFD_PAGE_MIGRATION_TRACE=1")),
    "kokkos-trace": (None, sees("KOKKOS_TOOLS_LIBS=/.*/librocprofiler-sdk-tool-kokkosp.so", "ROCPROF_KERNEL_RENAME=1",
                                "ROCPROF_MARKER_API_TRACE=1")),
    "pmc": ("SQ_WAVES", sees("ROCPROF_COUNTERS=pmc: SQ_WAVES", "ROCPROF_COUNTER_COLLECTION=1")),
    "extra-counters": (counters_file, sees("ROCPROF_EXTRA_COUNTERS_CONTENTS=rocprofiler-sdk:")),
    "input": (input_file, sees("ROCPROF_COUNTERS=pmc: SQ_WAVES")),
    "output-format": ("csv", sees("ROCPROF_OUTPUT_FORMAT=csv")),
    "minimum-output-data": ("3", sees("ROCPROF_MINIMUM_OUTPUT_BYTES=3072")),
    "mangled-kernels": (None, sees("ROCPROF_DEMANGLE_KERNELS=0")),
    "collection-period": ("1:2:3", sees("ROCPROF_COLLECTION_PERIOD=1000000000:2000000000:3")),
    "collection-period-unit": ("usec", says(0, "")),
    "preload": ("/none/such.so", sees("LD_PRELOAD=/none/such.so:.*libcrocprof-tool.so")),
    "perfetto-backend": ("inprocess", says(0, "LD_PRELOAD=")),
    "log-level": ("config", says(0, "the program's environment:")),
    "disable-signal-handlers": (None, sees("ROCPROF_SIGNAL_HANDLERS=0")),
    "suppress-marker-preload": (None, says(0, "LD_PRELOAD=")),
    "echo": (None, says(0, "env\n")),
    "list-avail": (None, says(0, "SQ_WAVES")),
    "pid": (str(gone.pid), says(2, "which?")),
    "attach-duration-msec": ("5", says(0, "LD_PRELOAD=")),
    "attach-children": (None, says(0, "LD_PRELOAD=")),
    "selected-regions-ref-count": (None, sees("ROCPROF_SELECTED_REGIONS_REF_COUNT=1", "ROCPROF_SELECTED_REGIONS=1")),
    "summary-output-file": ("stdout", sees("ROCPROF_STATS_SUMMARY_OUTPUT=stdout")),
}


def rows():
    text = subprocess.run([ROWS], check=True, capture_output=True, encoding="utf-8").stdout
    found = [dict(zip(COLUMNS, line.split("\t"))) for line in text.split("\0")[:-1]]
    return [row for row in found if not row["section"].startswith("COMMAND") and row["section"] != "OWN"]


def run(words):
    done = subprocess.run([CROCPROF, *words, "--", "env"], capture_output=True, text=True, timeout=60, cwd=work)
    return done, done.stdout


def value_of(row):
    if row["name"] in EFFECTS:
        return EFFECTS[row["name"]][0]
    if "|" in row["value"]:
        return row["value"].split("|")[0]
    return VALUES[row["value"]] if row["value"] else None


def spellings(row, value):
    name, letter = "--" + row["name"], "-" + row["letter"]
    if value is None:
        return [[name], [name + "=yes"], [name, "true"]] + ([[letter]] if row["letter"] else [])
    return [[name, value], [f"{name}={value}"]] + ([[letter, value], [letter + value]] if row["letter"] else [])


def use(row):
    """The first spelling with its effect; the others must have the same."""
    value = value_of(row)
    wanted = EFFECTS[row["name"]][1] if row["name"] in EFFECTS else sees(
        re.escape(f"{row['variable']}={'1' if value is None else value}"))
    for words in spellings(row, value):
        words = words + PAIRED.get(row["name"], [])
        done, text = run(words)
        checks.true(f"{shlex.join(words)}: {done.returncode} {done.stderr[:300]} {own(text)[:600]}", wanted(done, text))
    if value is None and row["variable"]:
        for words in (["--no-" + row["name"]], ["--" + row["name"], "no"]):
            checks.true(f"{words}", sees(re.escape(row["variable"]) + "=0")(*run(words)))


def own(text):
    return "\n".join(line for line in text.splitlines() if line.startswith(("ROCPROF", "CROCPROF")))


def table(name):
    """The rows of one of the lists that are not options: names and sentences."""
    with open(OPTION_LIST, encoding="utf-8") as file:
        text = file.read()
    body = re.search(r"#define %s\(X\)(.*?[^\\])\n" % name, text, re.S).group(1).replace("\\\n", " ")
    for row in re.findall(r'X\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', body):
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', row)
        yield texts[0], re.search(r",\s*(?:'(.)'|0|\w+)\s*,", row).group(1), "".join(texts[1:]), row


def refused_and_moot():
    missing = list(table("OPTIONS_MISSING"))
    checks.true("a list of what is missing", len(missing) > 5)
    for name, letter, why, _ in missing:
        for words in [["--" + name], ["--" + name.replace("-", "_") + "=1"]] + ([["-" + letter, "1"]] if letter else []):
            done, _ = run(words)
            checks.equal(f"{words}: {done.stderr}", (done.returncode, why in done.stderr, done.stderr.count("\n")),
                         (2, True, 1))
        for words in (["--no-" + name], ["--" + name, "no"], [f"--{name}=False"]):
            done, text = run(words)
            checks.equal(f"{words}", (done.returncode, "PATH=" in text), (0, True))
    for name, _, why, row in table("OPTIONS_MOOT"):
        done, _ = run(["--" + name] + ([] if "FLAG" in row else ["1"]))
        checks.equal(f"--{name}: {done.stderr}", (done.returncode, why in done.stderr), (0, True))
        if "FLAG" in row:  # the word behind it is no program
            done, text = run(["--" + name, "yes"])
            checks.equal(f"--{name} yes", (done.returncode, why in done.stderr, "PATH=" in text), (0, True, True))


with open(counters_file, "w", encoding="utf-8") as made:
    made.write("rocprofiler-sdk:\n  counters-schema-version: 1\n  counters: []\n")
with open(input_file, "w", encoding="utf-8") as made:
    made.write("pmc: SQ_WAVES\n")
table_rows = rows()
checks.true("a table", len(table_rows) > 50)
for option in table_rows:
    if option["name"] not in EFFECTS and not option["variable"]:
        checks.true(f"nothing is known of what --{option['name']} does", False)
    else:
        use(option)
checks.equal("effects of options that there are not", set(EFFECTS) - {row["name"] for row in table_rows}, set())
refused_and_moot()
checks.exit()
