#!/usr/bin/env python3
"""Compiles the installed headers with the HIP and HSA headers of another ROCm release.

    release_test.py INCLUDE RUNTIME [--cc CC] [--cxx CXX] [--every]

INCLUDE holds our headers, RUNTIME the folders hip and hsa. Every header that names one of the
runtime's alone, as C11 and C++17, then all headers in one file, ours first and the runtime's first,
as C11 both, as C++17 the one and as C++20 the other. No header of the runtime may come from
elsewhere. --every: also the headers that bring one of the runtime's in any way, and everything in
all three languages, some 40 s. Exit status 77 when RUNTIME has none.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

# What is compiled as which language, without --every.
ALONE = ["c11", "c++17"]
OURS_FIRST = ["c11", "c++17"]
RUNTIME_FIRST = ["c11", "c++20"]
LANGUAGES = ["c11", "c++17", "c++20"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# What a program includes of the runtimes; whichever of these the release has.
RUNTIME_HEADERS = ["hsa/hsa.h", "hsa/hsa_ext_amd.h", "hsa/hsa_ext_finalize.h", "hsa/hsa_ext_image.h",
                   "hip/hip_runtime_api.h", "hip/hip_gl_interop.h", "hip/hip_version.h", "hip/hiprtc.h"]
CXX_RUNTIME_HEADERS = ["hsa/hsa_api_trace.h", "hip/hip_runtime.h", "hip/hip_deprecated.h",
                       "hip/amd_detail/hip_api_trace.hpp"]
# Two libraries of one name: a program includes the one or the other.
OTHERS_ROCTX = ("roctracer/roctx.h", "roctracer/roctracer_roctx.h")
INCLUDE_LINE = re.compile(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", re.M)


def headers_find(folder):
    found = []
    for path, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(path, name), folder) for name in names
                  if name.endswith((".h", ".hpp"))]
    return sorted(found)


def with_runtime(folder, headers, every):
    """Those of the headers that name one of a runtime's, or also whoever includes those."""
    brings = {}
    for header in headers:
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            lines = INCLUDE_LINE.findall(file.read())
        beside = os.path.dirname(header)
        brings[header] = set(lines) | {os.path.normpath(os.path.join(beside, l)) for l in lines}
    found = {h for h, lines in brings.items() if any(l.startswith(("hip/", "hsa/")) for l in lines)}
    more = found
    while every and more:
        more = {h for h, lines in brings.items() if lines & found} - found
        found |= more
    return sorted(found)


class Trial:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def run(self, name, language, includes):
        """None, or what the compiler says against the file."""
        is_cxx = language.startswith("c++")
        stem = os.path.join(self.folder, re.sub(r"\W", "_", name + language))
        source, deps = stem + (".cpp" if is_cxx else ".c"), stem + ".d"
        with open(source, "w", encoding="utf-8") as file:
            file.write("".join("#include <%s>\n" % i for i in includes))
        command = [self.options.cxx if is_cxx else self.options.cc, "-std=" + language, "-fsyntax-only",
                   "-D__HIP_PLATFORM_AMD__=1", "-DAMD_INTERNAL_BUILD=1", "-MD", "-MF", deps, "-I", self.options.include, *WARNINGS,
                   "-isystem", self.options.runtime, "-isystem", self.options.stand_in, source]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            return "%s as %s:\n%s" % (name, language, "\n".join(result.stderr.splitlines()[:12]))
        return self.strangers(name, deps)

    def strangers(self, name, deps):
        with open(deps, encoding="utf-8") as file:
            used = re.findall(r"\S*/(?:hip|hsa)/\S+", file.read())
        ours = (os.path.realpath(self.options.include), os.path.realpath(self.options.runtime))
        bad = [u for u in used if not os.path.realpath(u).startswith(ours)]
        return "%s: not of the release: %s" % (name, " ".join(bad)) if bad else None


def trials(options):
    """(name, language, includes) of every file to be compiled."""
    headers = headers_find(options.include)
    alone = with_runtime(options.include, headers, options.every)
    for language in LANGUAGES:
        is_cxx = language.startswith("c++")
        known = RUNTIME_HEADERS + (CXX_RUNTIME_HEADERS if is_cxx else [])
        runtime = [h for h in known if os.path.exists(os.path.join(options.runtime, h))]
        fits = [h for h in headers if is_cxx or h.endswith(".h")]
        ours = [h for h in fits if h not in OTHERS_ROCTX]
        if options.every or language in ALONE:
            for header in [h for h in fits if h in alone]:
                yield header, language, [header, header]
        if options.every or language in OURS_FIRST:
            yield "all, ours first", language, ours + runtime
        if options.every or language in RUNTIME_FIRST:
            yield "all, the runtime's first", language, runtime + ours[::-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include")
    parser.add_argument("runtime")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--stand-in", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "../conformance/cxx/perfetto_double"))
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.runtime, "hip/hip_version.h")):
        print("release_test: no HIP headers in %s" % options.runtime)
        return 77
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        trial = Trial(options, folder)
        results = list(pool.map(lambda t: trial.run(*t), trials(options)))
    complaints = [r for r in results if r]
    print("\n".join(complaints + ["%d files, %d refused" % (len(results), len(complaints))]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
