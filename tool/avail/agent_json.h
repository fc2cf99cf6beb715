/* An agent as one JSON object, with the names of rocprofiler_agent_v0_t's members as keys. */
#ifndef AVAIL_AGENT_JSON_H
#define AVAIL_AGENT_JSON_H

#include <rocprofiler-sdk/agent.h>

#include <stdio.h>

void agent_json_print(FILE *file, const rocprofiler_agent_v0_t *agent);

/* A text in quotes. */
void json_text_print(FILE *file, const char *text);

#endif
