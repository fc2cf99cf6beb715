"""A tool is attached from outside to a GPU program that runs, twice, and taken away again.

    outside_test.py CROCGPU HOST KERNELS ROCATTACH TOOL SDK
"""
import os
import re
import subprocess
import sys

from attaching import attach_twice

CROCGPU, HOST, KERNELS, ROCATTACH, TOOL, SDK = sys.argv[1:]


def main():
    env = dict(os.environ, LD_PRELOAD=SDK, ROCP_TOOL_ATTACH="1", CROCGPU_DEVICES="gfx90a")
    host = subprocess.Popen([CROCGPU, HOST, KERNELS], env=env, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    attach_twice(ROCATTACH, TOOL, host)
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
