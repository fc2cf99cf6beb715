/* ROCP_TOOL_ATTACH: the user has said that a tool may be attached. Private to session. */
#ifndef SESSION_EXPECT_H
#define SESSION_EXPECT_H

#include <stdbool.h>

/* From now on queues are made such that its kernels can be seen. Idempotent. */
void attach_expect_if_asked(void);
bool attach_is_asked_for(void);

#endif
