"""No lock of the libraries is held across allocation or calls that take time.

    locks_test.py [--gpu CROCGPU] LOCKWATCH PROGRAM...
"""
import bisect
import functools
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PLACE = re.compile(r"(\S+)\((.*?)\+0x([0-9a-f]+)\)")
FOUND = 99


@functools.lru_cache(None)
def functions_of(library):
    """Sorted (address, name) of a library's functions."""
    lines = subprocess.run(["nm", library], capture_output=True, text=True,
                           check=False).stdout.splitlines()
    rows = [l.split() for l in lines]
    return sorted((int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tTwW"
                  and "@" not in r[2])


def function_at(place):
    """The function of `library(symbol+0xoffset)`, without what the optimiser appended."""
    library, _, offset = PLACE.search(place).groups()
    if not os.path.exists(library):
        return place
    functions = functions_of(os.path.realpath(library))
    index = bisect.bisect(functions, (int(offset, 16), "")) - 1
    return functions[index][1].split(".")[0] if index >= 0 else place


def findings(text):
    """(what, function that holds the lock, callers) of each finding."""
    block = None
    for line in text.splitlines():
        if line.startswith("lockwatch: "):
            block = [line.split()[1], function_at(line.split(" at ")[1]), []]
            yield block
        elif block and line.startswith("    "):
            block[2].append(function_at(line.strip()))


def run(program, lockwatch, gpu):
    preload = [lockwatch]
    command = [program]
    if gpu:
        preload.insert(0, os.path.join(os.path.dirname(gpu), "..", "lib", "libcrocgpu.so"))
        command = [gpu, "env", "LD_PRELOAD=" + ":".join(preload), program]
    environment = dict(os.environ) if gpu else dict(os.environ, LD_PRELOAD=lockwatch)
    return subprocess.run(command, env=environment, capture_output=True, text=True,
                          errors="replace", timeout=150)


def main():
    arguments = sys.argv[1:]
    gpu = arguments[1] if arguments[0] == "--gpu" else None
    lockwatch, *programs = arguments[2:] if gpu else arguments
    with open(os.path.join(HERE, "slow_locks.txt"), encoding="utf-8") as f:
        names = [l.split()[0] for l in f if l.strip() and not l.startswith("#")]
    slow = re.compile("|".join(names))
    bad = False
    for program in programs:
        done = run(program, lockwatch, gpu)
        if done.returncode not in (0, FOUND):
            print(f"{program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
            bad = True
        for what, holder, callers in list(findings(done.stderr)):
            if slow.fullmatch(holder):
                continue
            print(f"{what} under a mutex that {holder} locked: {' < '.join(callers)}")
            bad = True
    sys.exit(bad)


if __name__ == "__main__":
    main()
