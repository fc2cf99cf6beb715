"""A tool is attached from outside to a GPU program that runs, twice, and taken away again.

    outside_test.py CROCGPU HOST KERNELS ROCATTACH TOOL SDK
"""
import ctypes
import os
import re
import subprocess
import sys
import time

CROCGPU, HOST, KERNELS, ROCATTACH, TOOL, SDK = sys.argv[1:]
SKIPPED = 77
NOT_PERMITTED = 5


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def program_below(pid):
    """The launcher may stay as the parent of the program."""
    while children(pid):
        pid = children(pid)[0]
    return pid


def main():
    env = dict(os.environ, LD_PRELOAD=SDK, ROCP_TOOL_ATTACH="1", CROCGPU_DEVICES="gfx90a")
    host = subprocess.Popen([CROCGPU, HOST, KERNELS], env=env, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    assert host.stdout.readline() == "ready\n"
    pid = program_below(host.pid)
    os.environ["ROCPROF_ATTACH_TOOL_LIBRARY"] = TOOL
    rocattach = ctypes.CDLL(ROCATTACH)
    for _ in range(2):
        time.sleep(0.2)
        status = rocattach.rocattach_attach(pid)
        if status == NOT_PERMITTED:
            host.kill()
            print("ptrace is not allowed here")
            sys.exit(SKIPPED)
        assert status == 0, status
        time.sleep(0.3)
        status = rocattach.rocattach_detach(pid)
        assert status == 0, status
    time.sleep(0.2)
    host.stdin.close()
    line = host.stdout.read()
    assert host.wait() == 0
    print(line, end="")
    numbers = {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)}
    assert 0 < numbers["dispatches"] < numbers["runs"], line
    assert numbers["named"] == numbers["timed"] == numbers["dispatches"], line
    assert numbers["objects"] == 2, line


if __name__ == "__main__":
    main()
