/* Prints a decoded instruction as LLVM's disassembler would; the decoder's test compares both. */
#ifndef ISA_TEXT_H
#define ISA_TEXT_H

#include "isa/decode.h"

/* Immediates that the disassembler prints by name (hwreg, sendmsg, waitcnt, swizzle) are left out.
 */
void isa_text(const struct inst *inst, char *text, size_t size_bytes);

#endif
