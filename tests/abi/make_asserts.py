#!/usr/bin/env python3
"""Turns facts about binary layouts into static assertions.

    make_asserts.py layout FACTS.txt OUT.c     sizes, offsets, enumerators; C and C++; of the SDK's
                                               headers unless the facts name others
    make_asserts.py bits FACTS.txt OUT.c       a program that fails where a bit-field lies elsewhere
    make_asserts.py tables API_FOLDER OUT.cpp  our HSA lists against the installed HSA headers
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gen"))
import api_model  # noqa: E402

LAYOUT_INCLUDES = """#include <stddef.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/spm.h>
#include <rocprofiler-sdk-roctx/api_trace.h>
"""


# The headers of ROC Profiler v1 and of the SDK have macros in common: none is included for this.
STATIC_ASSERT = """#ifdef __cplusplus
#define STATIC_ASSERT static_assert
#else
#define STATIC_ASSERT _Static_assert
#endif
"""


def layout_assert(words):
    kind = words[0]
    if kind == "size":
        condition = "sizeof(%s) == %s" % (words[1], words[2])
    elif kind == "offset":
        condition = "offsetof(%s, %s) == %s" % (words[1], words[2], words[3])
    elif kind == "value":
        condition = "(long)%s == %s" % (words[1], words[2])
    else:
        sys.exit("make_asserts: unknown fact '%s'" % " ".join(words))
    return 'STATIC_ASSERT(%s, "%s");' % (condition, " ".join(words[:-1]))


def read_facts(facts):
    """Include lines and the words of each fact."""
    with open(facts, encoding="utf-8") as f:
        lines = [l.split() for l in f if l.strip() and not l.startswith("#")]
    includes = ["#include <%s>" % l[1] for l in lines if l[0] == "include"]
    return includes, [l for l in lines if l[0] != "include"]


def layout(facts):
    includes, lines = read_facts(facts)
    asserts = [layout_assert(l) for l in lines if l[0] != "bits"]
    head = "\n".join(["#include <stddef.h>"] + includes) + "\n" if includes else LAYOUT_INCLUDES
    return STATIC_ASSERT + head + "\n".join(asserts) + "\n"


# The address of a bit-field is no constant: one less than 0 has ones in all of it and nowhere else.
BITS_CHECK = """#include <stdio.h>
static int wrong(const void *object, size_t size, size_t first, size_t width, const char *name)
{
    const unsigned char *bytes = (const unsigned char *)object;

    for (size_t i = 0; i < 8 * size; i++) {
        if (((bytes[i / 8] >> (i % 8)) & 1) != (i >= first && i < first + width)) {
            return printf("%s: bit %zu\\n", name, i);
        }
    }
    return 0;
}
#define BITS(type, member, first, width) \\
    { \\
        static type object; \\
        object.member--; \\
        failed |= wrong(&object, sizeof object, first, width, #type " " #member); \\
    }
int main(void)
{
    int failed = 0;
"""


def bits(facts):
    includes, lines = read_facts(facts)
    checks = ["    BITS(%s)" % ", ".join(l[1:]) for l in lines if l[0] == "bits"]
    if not checks:
        sys.exit("make_asserts: no bit-fields in " + facts)
    return "\n".join(["#include <stddef.h>"] + includes) + "\n" + BITS_CHECK + \
        "\n".join(checks) + "\n    return failed != 0;\n}\n"


def slot_assert(function, column):
    struct, slot = function.table.struct, function.slots[column]
    # A table begins with its version, four 32-bit words.
    return ("static_assert(offsetof(%s, %s_fn) == 16 + 8 * %d, \"%s\");"
            % (struct, function.name, slot, function.name))


def prototype_assert(function):
    args = ", ".join(p.type for p in function.params)
    pointer = "%s (*)(%s)" % (function.returns, args)
    return ("static_assert(std::is_same<decltype(&%s), %s>::value, \"%s\");"
            % (function.name, pointer, function.name))


def tables(folder):
    """For the installed generation: every listed slot, every prototype, and no slot unlisted."""
    out = ["#include <cstddef>", "#include <type_traits>", "#define AMD_INTERNAL_BUILD",
           "#include <rocprofiler-sdk/detail/hsa_types.h>", "#include <hsa/hsa_api_trace.h>"]
    hsa = [t for t in api_model.load(folder) if t.family == "hsa"]
    for column, condition in ((0, "HSA_AMD_EXT_API_TABLE_MAJOR_VERSION == 1"),
                              (1, "HSA_AMD_EXT_API_TABLE_MAJOR_VERSION == 2")):
        out.append("#if " + condition)
        for table in hsa:
            present = [f for f in table.functions if f.slots[column] is not None]
            steps = "HSA_%s_API_TABLE_STEP_VERSION" % {
                "core": "CORE", "amd_ext": "AMD_EXT", "image_ext": "IMAGE",
                "finalize_ext": "FINALIZER"}[table.table]
            for f in present:
                guarded = column == 1 and f.since[1] > 0
                out += ["#if %s >= %d" % (steps, f.since[1])] if guarded else []
                out.append(slot_assert(f, column))
                if "iterate_modules" not in f.name and "intercept" not in f.name:
                    out.append(prototype_assert(f))
                out += ["#endif"] if guarded else []
            if column == 0:
                out.append("static_assert(sizeof(%s) == 16 + 8 * %d, \"%s has no other slot\");"
                           % (table.struct, len(present), table.struct))
        out.append("#endif")
    return "\n".join(out) + "\n"


def main():
    makers = {"layout": layout, "bits": bits, "tables": tables}
    if len(sys.argv) != 4 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    text = makers[sys.argv[1]](sys.argv[2])
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
