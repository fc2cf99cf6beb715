"""What the tests have in common that attach to a program from outside."""
import ctypes
import os
import re
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


def waits_of(pid):
    """How often its first thread has gone to sleep."""
    with open(f"/proc/{pid}/task/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.M).group(1))


def let_it_run(pid):
    """For some rounds of its loop, which has a few waits; on a busy machine that takes long."""
    begun = waits_of(pid)
    while waits_of(pid) < begun + 100:
        time.sleep(0.01)


def attach_twice(rocattach, tool, program):
    """Each time for a moment. The test ends as skipped where ptrace is not allowed."""
    assert program.stdout.readline() == "ready\n"
    pid = program_below(program.pid)
    os.environ["ROCPROF_ATTACH_TOOL_LIBRARY"] = tool
    library = ctypes.CDLL(rocattach)
    for _ in range(2):
        let_it_run(pid)
        status = library.rocattach_attach(pid)
        if status == NOT_PERMITTED:
            program.kill()
            print("ptrace is not allowed here")
            sys.exit(SKIPPED)
        assert status == 0, status
        let_it_run(pid)
        status = library.rocattach_detach(pid)
        assert status == 0, status
