"""HIP's functions: the SDK's, those of an old header, and what data/api/hip_tracer_*.list says of
releases. Standard library only.
"""
import glob
import os
import re

import api_model

# Functions whose old binary interface lives on under another name; and a name of HIP 6 for what the
# SDK calls hipChooseDevice.
RENAMED = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0000",
           "hipChooseDevice": "hipChooseDeviceR0000",
           "hipChooseDeviceR0600": "hipChooseDevice"}


def operations(folder):
    return {f.name: f for t in api_model.load(folder) if t.family == "hip" for f in t.functions}


def read_list(path):
    """The releases, the structure's size, and id -> (function, [(argument, offset, size)])"""
    releases, size, functions = [], 0, {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0] == "size":
                size = int(words[1])
            elif words[0] == "releases":
                releases = [tuple(map(int, r.split("."))) for r in words[1:]]
            else:
                places = [w.split(":") for w in words[2:]]
                functions[int(words[0])] = (words[1], [(a, int(o), int(n)) for a, o, n in places])
    return releases, size, functions


def read_lists(folder):
    """What read_list() returns, of every list, the oldest release first."""
    return [read_list(path) for path in list_paths(folder)]


def list_paths(folder):
    return sorted(glob.glob(os.path.join(folder, "hip_tracer_*.list")))


def legacy_functions(path):
    """name -> (id, [parameter names]) as the header states them."""
    text = open(path, encoding="utf-8").read()
    ids = dict(re.findall(r"HIP_API_ID_(\w+) = (\d+)", text))
    params = {}
    for name, listed in re.findall(r"^// (\w+)\[(.*)\]$", text, re.M):
        params[name] = re.findall(r"\('[^']*', '(\w+)'\)", listed)
    # Members that the macro of the function really fills.
    filled = {}
    for name, body in re.findall(r"#define INIT_(\w+)_CB_ARGS_DATA\(cb_data\) \{(.*?)\n\};", text,
                                 re.S):
        filled[name] = set(re.findall(r"cb_data\.args\.\w+\.(\w+) =", body))
    return {n: (int(i), params.get(n, []), filled.get(n, set())) for n, i in ids.items()}
