"""Who may include whom (docs/architecture.md): fails with one line per forbidden include."""
import os
import re
import sys

# Folder of src/ -> folders of src/ it may use, besides itself.
BELOW = {
    "base": [],
    "model": ["base"],
    "tracebuf": ["base"],
    "topology": ["model", "base"],
    "codeobj": ["model", "base"],
    "counters": ["model", "base"],
    "gpu": ["model", "base"],
    "runtime": ["model", "base"],
    "intercept": ["runtime", "tracebuf", "model", "base", "topology", "codeobj"],
    "session": ["runtime", "tracebuf", "model", "base", "topology", "codeobj", "counters", "gpu"],
    "api": ["session", "model", "base"],
}
# aqlprofile is a front end of the packet builders, not of the engine (docs/decisions/0005).
BELOW_EXTRA = {"api/aqlprofile": ["gpu"]}
# Session and interception meet by model/ alone (trace.h, runtime.h, counting.h, *_facts.h): neither
# knows the other, and no header brings one to the other.
UNSEEN = {"session": ["intercept"], "intercept": ["session"], "runtime": ["session", "intercept"]}
# Front ends see the engine by session's facade alone: directly or by other headers they reach these
# and nothing else of src/.
FACADE = ("api/", "session/front/", "model/", "base/", "tracebuf/tracebuf.h", "topology/topology.h",
          "counters/catalog.h", "counters/definition.h", "counters/expression.h", "counters/shape.h", "gpu/sqtt/config.h")
NO_FRONT_ENDS = {"api/aqlprofile"}
INTERCEPTION = re.compile(r"(?<![\w.])intercept_[a-z]\w*(?=\s*\()|->\s*intercept_[a-z]\w*")
# Who may see the installed headers: the SDK's public types are the engine's vocabulary
# (docs/decisions/0001).
PUBLIC_HEADERS = {"model", "topology", "codeobj", "counters", "runtime", "intercept",
                  "session", "api", "gpu"}
PUBLIC_PREFIXES = ("rocprofiler-sdk/", "rocprofiler-sdk-roctx/", "rocprofiler-sdk-rocattach/",
                   "rocprofiler-register/",
                   "rocprofiler/", "roctracer/", "aqlprofile/")
# What a front end translates to is nobody else's vocabulary.
FRONT_PREFIXES = ("roctracer/", "rocprofiler/", "aqlprofile/", "rocprofiler-register/", "rocprofiler-sdk-rocattach/")
SOFTGPU = {"core", "mem", "isa", "image", "valu", "translate", "wave", "perf", "cp", "driver", "dump", "launch"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(2)


def sources(root, top):
    for folder, _, names in os.walk(os.path.join(root, top)):
        for name in names:
            if name.endswith((".c", ".h", ".cc", ".cpp", ".hpp", ".inc")):
                yield os.path.join(folder, name)


def check_src(root):
    for path in sources(root, "src"):
        relative = os.path.relpath(path, os.path.join(root, "src"))
        owner = relative.split(os.sep)[0]
        below = BELOW.get(owner, []) + BELOW_EXTRA.get("/".join(relative.split(os.sep)[:2]), [])
        for number, target in includes(path):
            head = target.split("/")[0]
            if target.startswith(PUBLIC_PREFIXES):
                if owner not in PUBLIC_HEADERS or (owner != "api" and target.startswith(FRONT_PREFIXES)):
                    yield path, number, f"{owner} may not use installed headers ({target})"
            elif "/" in target and head in BELOW and head != owner and head not in below:
                yield path, number, f"{owner} may not include {head} ({target})"
            elif "/" in target and head in SOFTGPU and head not in BELOW:
                yield path, number, f"the profiler may not include the software GPU ({target})"


def reached(root, path, seen):
    """Headers of ours that a file includes, directly or by others."""
    for _, target in includes(path):
        header = os.path.join(root, "src", target)
        if target not in seen and os.path.exists(header):
            seen.add(target)
            reached(root, header, seen)
    return seen


def check_unseen(root):
    for owner, unseen in UNSEEN.items():
        for path in sources(root, os.path.join("src", owner)):
            for target in sorted(reached(root, path, set())):
                if target.split("/")[0] in unseen:
                    yield path, 1, f"{owner} may not even see {target}"


def check_facade(root):
    for path in sources(root, os.path.join("src", "api")):
        folder = os.path.relpath(os.path.dirname(path), os.path.join(root, "src"))
        if folder in NO_FRONT_ENDS:
            continue
        for target in sorted(reached(root, path, set())):
            if not target.startswith(FACADE):
                yield path, 1, f"front ends see src/session/front, which keeps {target} to itself"
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                for name in INTERCEPTION.findall(line):
                    yield path, number, f"front ends do not call interception ({name})"


def check_softgpu(root):
    for path in sources(root, "softgpu"):
        for number, target in includes(path):
            head = target.split("/")[0]
            if target.startswith(PUBLIC_PREFIXES):
                yield path, number, f"the software GPU may not know the profiler ({target})"
            elif "/" in target and head in BELOW and head != "base" and head not in SOFTGPU:
                yield path, number, f"the software GPU may use src/base only ({target})"


def check_tool(root):
    for path in sources(root, "tool"):
        for number, target in includes(path):
            head = target.split("/")[0]
            if "/" in target and head in BELOW and head != "base":
                yield path, number, f"the tool lives on the public API and base ({target})"
            elif "/" in target and head in SOFTGPU and head not in ("launch",):
                yield path, number, f"the tool may not include the software GPU ({target})"


def main():
    root = sys.argv[1]
    bad = [*check_src(root), *check_unseen(root), *check_facade(root), *check_softgpu(root), *check_tool(root)]
    for path, number, text in bad:
        print(f"{os.path.relpath(path, root)}:{number}: {text}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
