#!/usr/bin/env python3
"""Makes what the callback interface of HIP up to 5.2 needs, from data/api/hip_*.api.

    hip_legacy.py API_FOLDER HIP_PROF_STR_H|none OUT_FILE

The functions' names and operation ids; and, when the installed HIP is of that generation, the
conversion of its argument structures (hip_prof_str.h) into the SDK's, parameter by parameter, by
name where both have it and by position else.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402
from api_texts import api_texts  # noqa: E402
from hip_lists import RENAMED, legacy_functions, operations  # noqa: E402


# Built without the old header: legacy.c never arms itself and never calls these.
NOTHING = """
const bool hip_legacy_has_arguments = false;

bool hip_legacy_id_matches(uint32_t id, const char *name)
{
    (void)id;
    (void)name;
    return false;
}

size_t hip_legacy_data_size(void)
{
    return 0;
}

void hip_legacy_phase_set(void *data, uint32_t phase)
{
    (void)data;
    (void)phase;
}

uint32_t hip_legacy_phase(const void *data)
{
    (void)data;
    return 0;
}

void hip_legacy_arguments(uint32_t id, const void *data, rocprofiler_hip_api_args_t *to)
{
    (void)id;
    (void)data;
    (void)to;
}"""


def conversion(name, sdk, params, filled):
    lines = []
    for position, target in enumerate(sdk.params):
        source = target.name if target.name in params else None
        if source is None and len(params) == len(sdk.params):
            source = params[position]
        if source in filled:
            lines.append("        COPY(to->%s.%s, from->%s.%s);"
                         % (sdk.name, target.name, name, source))
    return lines


def conversions(sdk, legacy):
    out = ["\nconst bool hip_legacy_has_arguments = true;\n",
           "bool hip_legacy_id_matches(uint32_t id, const char *name)\n{",
           "    return id < HIP_API_ID_LAST + 1 && strcmp(hip_api_name(id), name) == 0;\n}\n",
           "size_t hip_legacy_data_size(void)\n{\n    return sizeof(hip_api_data_t);\n}\n",
           "void hip_legacy_phase_set(void *data, uint32_t phase)\n{",
           "    ((hip_api_data_t *)data)->phase = phase;\n}\n",
           "uint32_t hip_legacy_phase(const void *data)\n{",
           "    return ((const hip_api_data_t *)data)->phase;\n}\n",
           "void hip_legacy_arguments(uint32_t id, const void *data, rocprofiler_hip_api_args_t *to)",
           "{",
           "    const __typeof__(((hip_api_data_t *)0)->args) *from =",
           "        &((const hip_api_data_t *)data)->args;\n",
           "    switch (id) {"]
    for name, (number, params, filled) in sorted(legacy.items(), key=lambda i: i[1][0]):
        function = sdk.get(RENAMED.get(name, name))
        lines = conversion(name, function, params, filled) if function else []
        if lines:
            out += ["    case HIP_API_ID_%s:" % name] + lines + ["        break;"]
    return out + ["    default:", "        break;", "    }", "}"]


def main():
    folder, header, target = sys.argv[1:4]
    sdk = operations(folder)
    legacy = legacy_functions(header) if header != "none" else {}
    out = ["/* Made by gen/hip_legacy.py; do not edit. */"]
    if legacy:
        out += ["#ifndef __HIP_PLATFORM_AMD__\n#define __HIP_PLATFORM_AMD__\n#endif",
                "#define HIP_PROF_HIP_API_STRING 0",
                "#include <hip/hip_runtime_api.h>", "#include <hip/amd_detail/hip_prof_str.h>"]
    out += ["#include <string.h>\n", '#include "intercept/hip/legacy.h"\n',
            "/* Types of one parameter may differ in name between generations, not in layout. */",
            "#define COPY(to, from) \\",
            "    memcpy(&(to), &(from), sizeof(to) < sizeof(from) ? sizeof(to) : sizeof(from))\n",
            "const struct hip_operation hip_operations[] = {"]
    names = [(n, f) for n, f in sdk.items()] + [(o, sdk[n]) for o, n in RENAMED.items()]
    names = {n: f for n, f in names}    # an old name means the old interface
    texts = api_texts(folder)
    for name, f in sorted(names.items()):
        out.append('    { %d, TRACE_%s_API, %d },' % (texts.place(name), f.table.stem.upper(), f.id))
    out += ["};", "const uint32_t hip_operation_count = %d;" % len(names)]
    if legacy:
        out += conversions(sdk, legacy)
    else:
        out.append(NOTHING)
    with open(target, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_legacy.py: %s" % e)
