"""An unmodified HIP program, started without a word about tools, is attached to twice.

    hip_outside_test.py CROCGPU PROGRAM ROCATTACH TOOL
"""
import ctypes
import os
import re
import subprocess
import sys
import time

CROCGPU, PROGRAM, ROCATTACH, TOOL = sys.argv[1:]
SKIPPED = 77
NOT_PERMITTED = 5


def program_below(pid):
    """The launcher may stay as the parent of the program."""
    while True:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            children = f.read().split()
        if not children:
            return pid
        pid = int(children[0])


def main():
    # ATTACH_PRINT makes the tool say at the end what it has seen
    program = subprocess.Popen([CROCGPU, PROGRAM], env=dict(os.environ, ATTACH_PRINT="1"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    pid = program_below(program.pid)
    os.environ["ROCPROF_ATTACH_TOOL_LIBRARY"] = TOOL
    rocattach = ctypes.CDLL(ROCATTACH)
    for _ in range(2):
        time.sleep(0.1)
        status = rocattach.rocattach_attach(pid)
        if status == NOT_PERMITTED:
            program.kill()
            print("ptrace is not allowed here")
            sys.exit(SKIPPED)
        assert status == 0, status
        time.sleep(0.3)
        status = rocattach.rocattach_detach(pid)
        assert status == 0, status
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
