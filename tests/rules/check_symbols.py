"""Exports and dependencies of every shared library we ship.

tests/rules/exports/<library>.txt lists what a library may export, one symbol (or symbol@VERSION)
a line, '?' in front for one that may be absent. A library without a list may export nothing.
Libraries injected into a user's program link libc and our own libraries, nothing else.
"""
import glob
import os
import re
import subprocess
import sys

NEEDED_ALLOWED = re.compile(
    r"^(libc|libm|libdl|libpthread|ld-linux-x86-64)\.so\.\d+$|^libcrocprof\.so\.0$|^libroctx64\.so\.4$|^libroctracer64\.so\.4$")
# The tool brings SQLite and the writers' libraries with it; the others are ordinary clients of the SDK and of roctx.
NOT_INJECTED = ("libcrocprof-tool", "librocprofv3-list-avail", "librocprofiler-sdk-tool-kokkosp")
RUNTIME_ADDED = re.compile(r"^(_init|_fini|__bss_start|_edata|_end|__asan.*|__tsan.*|__ubsan.*)$")


def tool_output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    for line in tool_output("nm", "-D", "--defined-only", library).splitlines():
        kind, name = line.split()[-2:]
        if kind == "A" or RUNTIME_ADDED.match(name.split("@")[0]):
            continue
        yield name.replace("@@", "@")


def listed(root, library):
    """The list for libfoo.so.1 is exports/libfoo.so.txt, whatever the version."""
    stem = os.path.basename(library).split(".so")[0]
    path = os.path.join(root, "tests/rules/exports", f"{stem}.so.txt")
    if not os.path.exists(path):
        return set(), set()
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].strip() for line in file]
    names = {line for line in lines if line}
    optional = {name[1:] for name in names if name.startswith("?")}
    return {name for name in names if not name.startswith("?")}, optional


def needed(library):
    for line in tool_output("readelf", "-d", library).splitlines():
        match = re.search(r"\(NEEDED\).*\[(.+)\]", line)
        if match:
            yield match.group(1)


def main():
    root, build = sys.argv[1:3]
    libraries = [path for folder in ("lib", "lib/roctracer", "lib/rocprofiler-sdk")
                 for path in glob.glob(os.path.join(build, folder, "lib*.so*"))
                 if not os.path.islink(path)]
    if not libraries:
        print("no shared library was built")
        return 77
    bad = []
    for library in sorted(libraries):
        name = os.path.basename(library)
        names = set(exported(library))
        required, optional = listed(root, library)
        bad += [f"{name}: exports {symbol}, which its list does not name"
                for symbol in sorted(names - required - optional)]
        bad += [f"{name}: does not export {symbol}" for symbol in sorted(required - names)]
        if name.startswith(NOT_INJECTED):
            continue
        bad += [f"{name}: needs {other}" for other in needed(library)
                if not NEEDED_ALLOWED.match(other) and "san" not in other]
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
