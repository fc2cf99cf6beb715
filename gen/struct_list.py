#!/usr/bin/env python3
"""Makes data/api/hip_structs.list and hsa_structs.list: the structures of a runtime's headers.

    struct_list.py KIND INCLUDE_FOLDER VERSION [INCLUDE_FOLDER VERSION ...]   > data/api/KIND_structs.list

KIND is hip or hsa. Releases are named from the oldest to the newest; VERSION as the header's own
macro counts, 0 for the oldest. Read are C++ declarations after the preprocessor: members of anonymous
structures count as the outer one's; of unions only the first member does, and none where a member of
a structure is a union that has no type name.
"""
import re
import subprocess
import sys

HEADS = {"hip": ["hip/hip_runtime_api.h", "hip/hip_deprecated.h"],
         "hsa": ["hsa/hsa.h", "hsa/hsa_ext_amd.h", "hsa/hsa_ext_image.h"]}
ABOUT = """# The structures of %s's headers and their members, for include/roctracer/%s_ostream_ops.h.
# Made by gen/struct_list.py. Releases: %s
#
# structure  first version (0: the oldest)  first without it (0: none)  member ...
# (":" after a bit field)
"""


def preprocessed(kind, folder):
    text = "#define __HIP_PLATFORM_AMD__ 1\n"
    for head in HEADS[kind]:
        text += "#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (head, head)
    run = subprocess.run(["g++", "-E", "-x", "c++", "-I", folder, "-"], input=text, check=True,
                         capture_output=True, text=True)
    ours, out = False, []
    for line in run.stdout.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = "/%s/" % kind in marker[1]
        elif ours:
            out.append(line)
    return re.sub(r'extern "C(\+\+)?" \{', " ", " ".join(out))


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    return len(text)


def pieces(body):
    """Declarations of a body: (head, inner body or None, tail)"""
    at = 0
    while at < len(body):
        brace, semicolon = body.find("{", at), body.find(";", at)
        if semicolon < 0:
            return
        if brace < 0 or semicolon < brace:
            yield body[at:semicolon].strip(), None, ""
            at = semicolon + 1
            continue
        end = closing(body, brace)
        kind = re.search(r"\b(struct|union|enum)\b[^()]*$", body[at:brace])
        if not kind: # a function
            at = end + 1
            continue
        semicolon = body.find(";", end)
        yield body[at:brace].strip(), body[brace + 1:end], body[end + 1:semicolon].strip()
        at = semicolon + 1


def names(declaration):
    for part in declaration.split(","):
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", part)
        bits = re.search(r"(\w+)\s*:\s*\d+\s*$", part)
        plain = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part)
        if pointer:
            yield pointer[1]
            return
        if "(" in part:
            return
        if bits:
            yield bits[1] + ":"
        elif plain:
            yield plain[1]


def members(body):
    found = []
    for head, inner, tail in pieces(body):
        if inner is None:
            if not re.match(r"(static|using|typedef|friend|operator)\b", head):
                found += names(head)
        elif "enum" in head or tail:
            found += [n for n in names(tail) if "union" not in head and "struct" not in head]
        else:
            arms = members(inner)
            found += arms[:1] if "union" in head else arms
    return found


def structures(text):
    for head, inner, tail in pieces(text):
        found = re.search(r"(typedef\s+)?\b(struct|union)\b\s*(?:__attribute__\(\(.*?\)\)\s*)?(\w*)(?:\s*:\s*\w+\s*)?$", head)
        if inner is None or not found or "template" in head:
            continue
        name = found[3]
        if found[1]:
            name = next((n.strip() for n in tail.split(",") if n.strip() and "*" not in n), name)
        listed = members(inner)[:1 if found[2] == "union" else None]
        if name and not name.startswith("_") and listed:
            yield name, listed


def main():
    kind, rest = sys.argv[1], sys.argv[2:]
    since, until, listed = {}, {}, {}
    for folder, version in zip(rest[::2], rest[1::2]):
        found = list(structures(preprocessed(kind, folder)))
        for gone in set(listed) - {name for name, _ in found}:
            until.setdefault(gone, int(version))
        for name, own in found:
            since.setdefault(name, int(version))
            known = listed.setdefault(name, [])
            known += [m for m in own if m not in known]
    sys.stdout.write(ABOUT % (kind.upper(), kind, " ".join(rest[1::2])))
    for name in sorted(listed):
        print(name, since[name], until.get(name, 0), *listed[name])


if __name__ == "__main__":
    main()
