"""A generated file that is committed: write it, or see whether it is current."""
import os
import sys


def main(path, wanted, usage):
    """The whole command line of such a generator: nothing, or --check."""
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        with open(path, encoding="utf-8") as file:
            if file.read() != wanted:
                sys.exit(f"{os.path.basename(path)} is not current: "
                         f"run gen/{os.path.basename(sys.argv[0])}")
    elif not arguments:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
    else:
        sys.exit(usage)
