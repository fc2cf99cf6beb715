/* A program without code for any GPU here fails at its first launch, if not before. */
#ifndef COLLECT_MISSING_CODE_H
#define COLLECT_MISSING_CODE_H

/* Says so, where it is one. The agents are known by then (names.h). */
void missing_code_tell(void);

#endif
