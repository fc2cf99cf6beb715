"""Every function that AMD's profiling libraries export is exported by ours.

    exports_promised.py LIST LIBRARIES
"""
import os
import subprocess
import sys


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def main(promised, libraries):
    with open(promised, encoding="utf-8") as file:
        wanted = [line.split() for line in file if line.strip() and not line.startswith("#")]
    there = {library: exported(os.path.join(libraries, library))
             for library in {line[0] for line in wanted}}
    missing = [f"{library}: {name}" for library, name in wanted if name not in there[library]]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} are exported")
    for line in missing:
        print("missing:", line)
    return len(missing) > 0 or len(wanted) < 200


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
