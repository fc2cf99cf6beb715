#!/usr/bin/env python3
"""Compares data/api/kfd.api with the installed header of libhsakmt: every function of the header is
listed, and with the same parameters.

    kfd_prototypes.py SOURCE_ROOT HSAKMT_H
"""
import os
import re
import sys

root, header = sys.argv[1:]
sys.path.insert(0, os.path.join(root, "gen"))
import api_model  # noqa: E402


def plain(parameter):
    """Without spaces; an array parameter is a pointer."""
    array = re.fullmatch(r"(.*?)(\w+)\s*\[\]", parameter.strip())
    return re.sub(r"\s+", "", array[1] + "*" + array[2] if array else parameter)


with open(header, encoding="utf-8", errors="replace") as file:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
declared = {name: [plain(p) for p in parameters.split(",") if p.strip() != "void"]
            for name, parameters in
            re.findall(r"HSAKMTAPI\s+(hsaKmt\w+)\s*\((.*?)\)\s*;", text, flags=re.S)}
listed = {f.name: [plain(p.decl) for p in f.params]
          for f in api_model.load_thunk(os.path.join(root, "data/api")).functions}
wrong = [name for name in declared if listed.get(name) != declared[name]]
for name in wrong:
    print("%s: %s, listed %s" % (name, declared[name], listed.get(name)))
if len(declared) < 50:
    print("%s has %d functions only" % (header, len(declared)))
sys.exit(1 if wrong or len(declared) < 50 else 0)
