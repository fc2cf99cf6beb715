#!/usr/bin/env python3
"""Makes data/api/hip_tracer_*.list from the headers of a HIP release.

    hip_tracer_list.py INCLUDE_FOLDER RELEASE... > data/api/hip_tracer_6_4.list

INCLUDE_FOLDER has the headers of one release, as its development package installs them; more releases
are named when their list is the same. What the arguments of a
function are called is read from hip_prof_str.h; where they lie is asked of the compiler.
"""
import os
import re
import subprocess
import sys
import tempfile

HEAD = """# What HIP hands to its tracer callback: hip_api_data_t, for every function.
# Made by gen/hip_tracer_list.py from the headers of these releases; binary facts, no code.
#
# id function  argument:offset:size ...   (bytes, from the start of hip_api_data_t)
releases %s
size %s
"""


def functions(text):
    """name -> (id, [arguments that the library fills, in the order of its parameters])"""
    ids = dict(re.findall(r"HIP_API_ID_(\w+) = (\d+),", text))
    filled = {}
    for name, body in re.findall(r"#define INIT_(\w+)_CB_ARGS_DATA\(cb_data\) \{(.*?)\n\};", text,
                                 re.S):
        filled[name] = re.findall(r"cb_data\.args\.\w+\.(\w+) =", body)
    return {n: (int(i), filled.get(n, [])) for n, i in ids.items()
            if n not in ("NONE", "FIRST", "LAST") and not n.startswith("RESERVED")}


def program(listed):
    out = ["#define __HIP_PLATFORM_AMD__ 1", "#define HIP_PROF_HIP_API_STRING 0",
           "#include <cstddef>", "#include <cstdio>", "#include <hip/hip_runtime_api.h>",
           "#include <hip/amd_detail/hip_prof_str.h>", "int main() {",
           'std::printf("size %zu\\n", sizeof(hip_api_data_t));']
    for name, (_, arguments) in listed.items():
        for a in arguments:
            member = "args.%s.%s" % (name, a)
            out.append('std::printf("%s %s %%zu %%zu\\n", offsetof(hip_api_data_t, %s), '
                       "sizeof(((hip_api_data_t *)0)->%s));" % (name, a, member, member))
    return "\n".join(out + ["}"]) + "\n"


def compiled(folder, text):
    with tempfile.TemporaryDirectory() as work:
        source, binary = os.path.join(work, "list.cpp"), os.path.join(work, "list")
        with open(source, "w", encoding="ascii") as f:
            f.write(text)
        subprocess.run(["g++", "-w", "-I", folder, source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout


def main():
    folder, releases = sys.argv[1], sys.argv[2:]
    with open(os.path.join(folder, "hip/amd_detail/hip_prof_str.h"), encoding="utf-8") as f:
        listed = functions(f.read())
    size, places = 0, {}
    for line in compiled(folder, program(listed)).splitlines():
        words = line.split()
        if words[0] == "size":
            size = words[1]
        else:
            places.setdefault(words[0], []).append(":".join(words[1:]))
    sys.stdout.write(HEAD % (" ".join(releases), size))
    for name, (number, _) in sorted(listed.items(), key=lambda i: i[1][0]):
        print(" ".join([str(number), name] + places.get(name, [])))


if __name__ == "__main__":
    main()
