/* Which handler a FLAT, GLOBAL or SCRATCH instruction gets. */
#include "wave/flat_elements.h"
#include "wave/flat_rows.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"

inst_exec_fn *flat_handler(struct inst *inst)
{
    inst_exec_fn *exec = flat_element_handler(inst), *rows = NULL;
    if (exec == flat_load_dwords || exec == flat_store_dwords)
        rows = CALL_LEVEL(flat_rows_handler, inst, inst_element(inst).dwords);
    return rows ? rows : exec;
}

span_fn *flat_span(const struct inst *inst)
{
    return CALL_LEVEL(flat_rows_span, inst->exec);
}
