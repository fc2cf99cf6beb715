#!/usr/bin/env python3
"""Lists the functions of the kernel driver's library for src/intercept/thunk and its front end.

    thunk_functions.py API_FOLDER OUT.h

THUNK_FUNCTIONS(NARROW, WIDE): (name, id), WIDE for more than six arguments, which do not all fit
registers. THUNK_SIZES: for each function its arguments' sizes, first argument lowest, two bits each:
0 none, 1 one byte, 2 four bytes, 3 eight bytes.
THUNK_PARAMETERS(X): (function, parameter, size), for whoever has the types to compare.
"""
import sys

import api_model

SIZES = {"bool": 1, "HSAuint32": 4, "HSAint32": 4, "unsigned int": 4, "HSAuint64": 8,
         "HSA_QUEUEID": 8, "HSATraceId": 8, "HsaPcSamplingTraceId": 4,
         # structures of one word, and enumerations
         "HsaMemFlags": 4, "HsaMemMapFlags": 4, "HSA_QUEUE_TYPE": 4, "HSA_QUEUE_PRIORITY": 8,
         "HSA_DBG_WAVEOP": 4, "HSA_DBG_WAVEMODE": 4, "HSA_DBG_WATCH_MODE": 4,
         "HSA_DBG_TRAP_OVERRIDE": 4, "HSA_DBG_TRAP_MASK": 4, "HSA_DBG_WAVE_LAUNCH_MODE": 4,
         "HSA_REGISTER_MEM_FLAGS": 4}
CODES = {1: 1, 4: 2, 8: 3}


def functions(folder):
    return api_model.load_thunk(folder).functions


def size_bytes(param):
    return 8 if param.indirections else SIZES[param.type]


def sizes(function):
    return sum(CODES[size_bytes(p)] << 2 * i for i, p in enumerate(function.params))


def main():
    folder, target = sys.argv[1:]
    listed = functions(folder)
    out = ["/* Made by gen/thunk_functions.py from data/api; do not edit. */", "#ifndef THUNK_FUNCTIONS_H",
           "#define THUNK_FUNCTIONS_H", "#define THUNK_FUNCTIONS(NARROW, WIDE) \\"]
    out += ["    %s(%s, %d) \\" % ("WIDE" if len(f.params) > 6 else "NARROW", f.name, f.id)
            for f in listed]
    out += ["", "enum { THUNK_FUNCTION_COUNT = %d };" % len(listed),
            "#define THUNK_SIZES " + ", ".join("0x%x" % sizes(f) for f in listed), "#define THUNK_PARAMETERS(X) \\"]
    out += ["    X(%s, %s, %d) \\" % (f.name, p.name, size_bytes(p)) for f in listed for p in f.params]
    out += ["", "#endif", ""]
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    try:
        main()
    except (api_model.ApiError, KeyError) as e:
        sys.exit("thunk_functions.py: %s" % e)
