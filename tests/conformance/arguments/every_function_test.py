"""The table of every_function.c names exactly the functions that the library exports.

    every_function_test.py PROGRAM EXPORTS LIBRARY
"""
import subprocess
import sys


def main():
    program, exports, library = sys.argv[1:]
    listed = set(subprocess.check_output([program, "--list"], text=True).split())
    with open(exports, encoding="utf-8") as f:
        names = [l.strip() for l in f if l.strip() and not l.startswith("#")]
    symbols = subprocess.check_output(["nm", "-D", "--defined-only", library], text=True)
    defined = {l.split()[-1].split("@")[0] for l in symbols.splitlines() if " T " in l}
    wanted = {n.lstrip("?") for n in names} & defined | {d for d in defined
                                                         if d.startswith("rocprofiler_")}
    for name in sorted(wanted - listed):
        print(f"{name} is exported and has no row in tests/conformance/arguments/every_function.c")
    for name in sorted(listed - wanted):
        print(f"{name} has a row but is not exported")
    sys.exit(wanted != listed)


if __name__ == "__main__":
    main()
