"""Files of a folder call each other downwards: no circle of calls between the members of an archive.

By symbols, so what is inlined does not count, and pointers in a table do.
"""
import os
import subprocess
import sys

FOLDERS = ("croc_runtime", "croc_session", "softgpu_cp", "softgpu_perf", "softgpu_wave")
# Files that are one part: a runtime that is met may bring another one, which is met, too.
TOGETHER = {"croc_session": [{"arm.c", "registered.c", "runtimes.c"}]}


def symbols(archive):
    """Member -> names it defines, and those it needs."""
    defines, needs, member = {}, {}, None
    text = subprocess.run(["nm", archive], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        words = line.split()
        if len(words) == 1 and words[0].endswith(":"):
            member = words[0][:-1].removesuffix(".o")
            needs[member] = set()
        elif len(words) == 2 and words[0] == "U":
            needs[member].add(words[1])
        elif len(words) == 3 and words[1].isupper():
            defines[words[2]] = member
    return defines, needs


def calls(archive):
    defines, needs = symbols(archive)
    return {member: {defines[name]: name for name in sorted(names)
                     if defines.get(name, member) != member}
            for member, names in needs.items()}


def reachable(graph, start):
    seen, left = set(), [start]
    while left:
        for other in graph[left.pop()]:
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def circles(graph, together=()):
    """Calls that lie on a circle, but for those inside of one part."""
    below = {member: reachable(graph, member) for member in graph}
    for member, others in sorted(graph.items()):
        for other, name in sorted(others.items()):
            if member in below[other] and not any({member, other} <= part for part in together):
                yield f"{member} -> {other} ({name})"


def main():
    build = sys.argv[2]
    archives = [os.path.join(build, "ar", f"lib{name}.a") for name in FOLDERS]
    archives = [path for path in archives if os.path.exists(path)]
    if not archives:
        print("no archive was built")
        return 77
    bad = [f"{os.path.basename(path)}: on a circle: {line}"
           for path in archives
           for line in circles(calls(path), TOGETHER.get(os.path.basename(path)[3:-2], ()))]
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
