"""An unmodified HIP program, started without a word about tools, is attached to twice.

    hip_outside_test.py CROCGPU PROGRAM ROCATTACH TOOL
"""
import os
import re
import subprocess
import sys

from attaching import attach_twice

CROCGPU, PROGRAM, ROCATTACH, TOOL = sys.argv[1:]


def main():
    # ATTACH_PRINT makes the tool say at the end what it has seen
    program = subprocess.Popen([CROCGPU, PROGRAM], env=dict(os.environ, ATTACH_PRINT="1"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    attach_twice(ROCATTACH, TOOL, program)
    program.stdin.close()
    text = program.stdout.read()
    print(text, end="")
    assert program.wait() == 0
    assert "until_input_ends: ok\n" in text
    seen = re.search(r"^A: (.*) enters (\d+) exits (\d+) records (\d+)$", text, re.M)
    assert seen and seen.group(1).split() == [
        "configure", "configure_attach", "initialize", "attach", "detach", "attach", "detach",
        "finalize"], text
    assert all(int(seen.group(i)) > 0 for i in (2, 3, 4)), text


if __name__ == "__main__":
    main()
