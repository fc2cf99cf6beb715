"""What the tests have in common that attach to a program from outside."""
import ctypes
import os
import sys
import time

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


def attach_twice(rocattach, tool, program):
    """Each time for a moment. The test ends as skipped where ptrace is not allowed."""
    assert program.stdout.readline() == "ready\n"
    pid = program_below(program.pid)
    os.environ["ROCPROF_ATTACH_TOOL_LIBRARY"] = tool
    library = ctypes.CDLL(rocattach)
    for _ in range(2):
        time.sleep(0.2)
        status = library.rocattach_attach(pid)
        if status == NOT_PERMITTED:
            program.kill()
            print("ptrace is not allowed here")
            sys.exit(SKIPPED)
        assert status == 0, status
        time.sleep(0.3)
        status = library.rocattach_detach(pid)
        assert status == 0, status
