/* The tables of one build, one for each ops_*.c. */
#ifndef VALU_TABLES_H
#define VALU_TABLES_H

#include "valu/chain.h"
#include "valu/kernel.h"

struct valu_table {
    const struct valu_op *ops;
    unsigned count;
};

extern const struct valu_table VALU(valu_table_int), VALU(valu_table_f32), VALU(valu_table_f64),
    VALU(valu_table_f16), VALU(valu_table_convert), VALU(valu_table_compare);

/* Handlers of instructions that do not fit the row scheme; NULL: none of them. */
inst_exec_fn *VALU(valu_special)(const struct inst *i);
inst_exec_fn *VALU(valu_float8)(const struct inst *i); /* valu_special() asks it */
inst_exec_fn *VALU(valu_mfma)(const struct inst *i);
valu_chain_fn *VALU(valu_mfma_chain)(const struct inst *i);
/* Those that valu_mfma() asks next, and that one. */
inst_exec_fn *VALU(valu_mfma_fused)(const struct inst *i);
inst_exec_fn *VALU(valu_smfmac)(const struct inst *i);

#endif
