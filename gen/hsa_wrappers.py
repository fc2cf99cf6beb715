#!/usr/bin/env python3
"""Makes the HSA interception's C from data/api/hsa_*.api.

    hsa_wrappers.py API_FOLDER OUT_FOLDER

hsa_functions.h   the enum of all functions of all tables, where each sits in a runtime's table per
                  generation, and the typed pointers to the runtime's own functions
hsa_wrappers_T.c  for table T the wrappers of its functions and the list that installs them
hsa_services.h    what the service functions of src/intercept/hsa look like
hsa_services.c    their entries

A process may have more than one HSA runtime. A wrapper must know whose function to call, so each
function has as many small wrappers and entries as HSA_INSTANCES_MAX.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402

# Our name of the table -> its pointer's place in the runtime's root table.
ROOT_PLACES = {"hsa_core": 0, "hsa_amd_ext": 1, "hsa_finalize_ext": 2, "hsa_image_ext": 3}

INSTANCES = 2  # the generated files assert that it is HSA_INSTANCES_MAX

# Functions around which src/intercept/hsa puts more than a report of the call.
SERVICES = """
hsa_amd_agents_allow_access hsa_amd_interop_map_buffer hsa_amd_interop_unmap_buffer
hsa_amd_ipc_memory_attach hsa_amd_ipc_memory_create hsa_amd_ipc_memory_detach
hsa_amd_memory_async_batch_copy hsa_amd_memory_fill hsa_amd_memory_lock hsa_amd_memory_lock_to_pool
hsa_amd_memory_unlock hsa_amd_portable_export_dmabuf hsa_amd_portable_export_dmabuf_v2
hsa_amd_svm_attributes_set hsa_amd_vmem_map hsa_amd_vmem_unmap hsa_memory_copy
hsa_amd_memory_async_copy hsa_amd_memory_async_copy_on_engine hsa_amd_memory_async_copy_rect
hsa_amd_memory_pool_allocate hsa_amd_memory_pool_free hsa_amd_profiling_async_copy_enable
hsa_amd_profiling_get_async_copy_time hsa_amd_profiling_set_profiler_enabled
hsa_amd_vmem_handle_create hsa_amd_vmem_handle_release hsa_executable_destroy hsa_executable_freeze
hsa_memory_allocate hsa_memory_free hsa_queue_create hsa_queue_destroy hsa_shut_down
hsa_signal_destroy
""".split()

NOTICE = "/* Made by gen/hsa_wrappers.py from data/api; do not edit. */\n"


def hsa_tables(folder):
    return [t for t in api_model.load(folder) if t.family == "hsa"]


def pointer_decl(function, name):
    params = ", ".join(p.decl for p in function.params) or "void"
    return "%s (*%s)(%s)" % (function.returns, name, params)


def stable_prefix(table):
    """Slots before the first one that a later generation inserted in between."""
    for f in table.functions:
        if f.slots[0] != f.slots[1]:
            return f.slots[1]
    return len(table.functions)


def functions_header(tables):
    out = [NOTICE, "#ifndef INTERCEPT_HSA_FUNCTIONS_H\n#define INTERCEPT_HSA_FUNCTIONS_H\n",
           "#include <rocprofiler-sdk/hsa.h>\n",
           "/* Came with the queue information of ROCm 6. */",
           "#if HSA_AMD_INTERFACE_VERSION_MINOR < 6",
           "typedef uint32_t hsa_queue_info_attribute_t;",
           "#endif\n",
           "/* (name, table, slot in tables of major version 1, of 2 and later; -1: not there) */",
           "#define HSA_FUNCTIONS(X) \\"]
    for t in tables:
        for f in t.functions:
            slots = [-1 if s is None else s for s in f.slots]
            out.append("    X(%s, %s, %d, %d) \\" % (f.name, t.table.upper(), *slots))
    out.append("")
    for column, generation in enumerate(("1", "2")):
        out.append("/* (name, table, slot) of those in tables of major version %s */" % generation)
        out.append("#define HSA_FUNCTIONS_%s(X) \\" % generation)
        for t in tables:
            out += ["    X(%s, %s, %d) \\" % (f.name, t.table.upper(), f.slots[column])
                    for f in t.functions if f.slots[column] is not None]
        out.append("")
    out.append("/* (table, place in the root table, slots of major version 1, of those before the "
               "first insertion) */")
    out.append("#define HSA_TABLES(X) \\")
    for t in sorted(tables, key=lambda t: ROOT_PLACES[t.stem]):
        first = sum(f.slots[0] is not None for f in t.functions)
        out.append("    X(%s, %d, %d, %d) \\" % (t.table.upper(), ROOT_PLACES[t.stem], first,
                                               stable_prefix(t)))
    out.append("")
    out.append("/* The runtime's own functions; NULL where its table has none. */")
    out.append("struct hsa_calls {")
    for t in tables:
        out += ["    %s;" % pointer_decl(f, f.name) for f in t.functions]
    out.append("};\n\n#endif")
    return "\n".join(out) + "\n"


ASSERTION = ("_Static_assert(HSA_INSTANCES_MAX == %d, \"gen/hsa_wrappers.py makes as many\");"
             % INSTANCES)

# Locals end in _ since parameters are called data, result and so on.
TRACED = """
typedef {returns}(*fn_{name})({params});

static __attribute__((noinline)) {returns}traced_{name}({params_comma}fn_{name} next_,
    const struct trace_set *set_)
{{
    rocprofiler_callback_tracing_hsa_api_data_t payload_;
    struct trace_frame frame_;
    if (trace_set_wants_args(set_)) {{
        payload_.size = sizeof payload_;
{fills}
        payload_.retval = (__typeof__(payload_.retval)){{0}};
    }}
{keeps}    trace_api_enter(&frame_, set_, TRACE_{domain}, {id}, &payload_);
    {assign}next_({names});
    TRACE_CALL_MAY_BE_LEFT();
{retval}    trace_api_exit(&frame_);
{last}}}
"""

WRAPPER = """
CODE_TABLE_ENTRY static {returns}wrap{instance}_{name}({params})
{{
    const struct trace_set *set_ = trace_set_load(TRACE_{domain}, {id});
    fn_{name} next_ = hsa_instances[{instance}].next.{name};

    if (__builtin_expect(set_ == NULL, 1))
        {call}next_({names});
    else
        {call}traced_{name}({names_comma}next_, set_);
}}
"""

ENTRY = """
CODE_TABLE_ENTRY static {returns}entry{instance}_{name}({params})
{{
    {call}service_{name}(&hsa_instances[{instance}]{comma_names});
}}
"""


def wrapper_text(table, f):
    void = f.returns_void
    fills = "\n".join("        payload_.args.%s.%s = %s;" % (f.name, p.name, p.name) for p in f.params)
    fills = fills or "        payload_.args.%s.no_args.empty = 0;" % f.name
    names, decls = ", ".join(p.name for p in f.params), ", ".join(p.decl for p in f.params)
    values = {
        "returns": f.returns + ("" if f.returns.endswith("*") else " "), "name": f.name,
        "params": decls or "void", "params_comma": decls + ", " if decls else "",
        "domain": table.stem.upper() + "_API", "id": f.id, "names": names,
        "names_comma": names + ", " if names else "", "fills": fills,
        "keeps": "".join("    TRACE_KEEP(%s);\n" % n for n in [p.name for p in f.params] + ["next_"]),
        "call": "" if void else "return ", "assign": "" if void else "%s result_ = " % f.returns,
        "retval": "" if void else "    payload_.retval.%s_retval = result_;\n" % f.returns,
        "last": "" if void else "    return result_;\n"}
    return TRACED.format(**values) + "".join(WRAPPER.format(instance=i, **values)
                                             for i in range(INSTANCES))


def wrappers_source(table):
    out = [NOTICE, '#include "base/code_table.h"\n#include "intercept/hsa/wrappers.h"',
           '#include "model/trace.h"\n', ASSERTION]
    out += [wrapper_text(table, f) for f in table.functions]
    code = "code_" + table.table
    out.append("CODE_TABLE(%s," % code)
    out += ["    CODE(%s, wrap%d_%s)" % (code, i, f.name)
            for f in table.functions for i in range(INSTANCES)]
    out.append(");\n\nconst struct hsa_api_wrappers hsa_wrappers_%s = {" % table.table)
    out.append("    TRACE_%s_API, HSA_FN_%s, %d, %s\n};" % (
        table.stem.upper(), table.functions[0].name, len(table.functions), code))
    return "\n".join(out) + "\n"


def service_functions(tables):
    found = {f.name: f for t in tables for f in t.functions}
    return [found[name] for name in SERVICES]


def services_header(functions):
    out = [NOTICE, "#ifndef INTERCEPT_HSA_SERVICES_H\n#define INTERCEPT_HSA_SERVICES_H\n",
           '#include "hsa_functions.h"\n', "struct hsa_instance;\n"]
    for f in functions:
        out.append("%s service_%s(%s);" % (f.returns, f.name, ", ".join(
            ["struct hsa_instance *runtime"] + [p.decl for p in f.params])))
    return "\n".join(out + ["\n#endif"]) + "\n"


def services_source(functions):
    out = [NOTICE, '#include "base/code_table.h"\n#include "intercept/hsa/wrappers.h"\n', ASSERTION]
    for f in functions:
        for instance in range(INSTANCES):
            out.append(ENTRY.format(
                returns=f.returns + " ", name=f.name, instance=instance,
                params=", ".join(p.decl for p in f.params) or "void",
                comma_names="".join(", " + p.name for p in f.params),
                call="" if f.returns_void else "return "))
    out.append("CODE_TABLE(code_services,")
    out += ["    CODE(code_services, entry%d_%s)" % (i, f.name)
            for f in functions for i in range(INSTANCES)]
    out.append(");\n\nstatic const enum hsa_function functions[] = {")
    out += ["    HSA_FN_%s," % f.name for f in functions]
    out.append("""};

void *hsa_service_entry(enum hsa_function function, uint32_t instance)
{
    for (uint32_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (functions[i] == function)
            return code_table_at(code_services, i * HSA_INSTANCES_MAX + instance);
    return NULL;
}""")
    return "\n".join(out) + "\n"


def main():
    tables = hsa_tables(sys.argv[1])
    services = service_functions(tables)
    files = {"hsa_functions.h": functions_header(tables), "hsa_services.h": services_header(services),
             "hsa_services.c": services_source(services)}
    for t in tables:
        files["hsa_wrappers_%s.c" % t.table] = wrappers_source(t)
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(sys.argv[2], name), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hsa_wrappers.py: %s" % e)
