/* What model/counting.h asks of a runtime, over HSA. Internal to this folder. */
#ifndef INTERCEPT_HSA_COUNTING_H
#define INTERCEPT_HSA_COUNTING_H

/* A runtime that serves devices was installed: its memory and queues are there to count with. */
void hsa_counting_begin(void);
/* It is about to end and still answers. */
void hsa_counting_end(void);
/* Another runtime ends: blocks that were kept may be that one's memory. */
void hsa_counting_memory_renew(void);

#endif
