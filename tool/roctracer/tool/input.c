#include "input.h"

#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"

struct reading {
    struct settings *settings;
    const char *path;
    XML_Parser parser;
    struct name_list *functions; /* of the trace element that is open; NULL: it has none */
    bool in_trace;
};

static void complain(const struct reading *reading, const char *what, const char *name)
{
    log_warning("roctracer", "%s:%lu: %s%s", reading->path,
                (unsigned long)XML_GetCurrentLineNumber(reading->parser), what, name);
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static void trace_begin(struct reading *reading, const char **attributes)
{
    struct settings *settings = reading->settings;
    const char *name = attribute(attributes, "name");
    reading->in_trace = true;
    reading->functions = NULL;
    if (!name) {
        complain(reading, "a trace element has no name", "");
    } else if (strcmp(name, "rocTX") == 0) {
        settings->roctx = true;
    } else if (strcmp(name, "GPU") == 0) {
        settings->hsa_activity = true;
    } else if (strcmp(name, "HSA") == 0) {
        settings->hsa_api = true;
        reading->functions = &settings->hsa_functions;
    } else if (strcmp(name, "HIP") == 0) {
        settings->hip_api = settings->hip_activity = true;
        reading->functions = &settings->hip_functions;
    } else if (strcmp(name, "KFD") == 0) {
        settings->kfd_api = true;
        reading->functions = &settings->kfd_functions;
    } else {
        complain(reading, "a trace is named HIP, HSA, KFD, GPU or rocTX, not ", name);
    }
}

static void parameters_begin(struct reading *reading, const char **attributes)
{
    const char *functions = attribute(attributes, "api");
    if (functions && reading->functions && !name_list_add(reading->functions, functions))
        complain(reading, "no memory", "");
}

static void on_begin(void *data, const char *name, const char **attributes)
{
    struct reading *reading = data;
    if (strcmp(name, "trace") == 0)
        trace_begin(reading, attributes);
    else if (reading->in_trace && strcmp(name, "parameters") == 0)
        parameters_begin(reading, attributes);
    else if (reading->in_trace)
        complain(reading, "a trace element has parameters, not ", name);
}

static void on_end(void *data, const char *name)
{
    struct reading *reading = data;
    if (strcmp(name, "trace") == 0)
        reading->in_trace = false;
}

static bool parse(struct reading *reading, const char *text, size_t length)
{
    if (XML_Parse(reading->parser, text, (int)length, 0) == XML_STATUS_OK)
        return true;
    complain(reading, "", XML_ErrorString(XML_GetErrorCode(reading->parser)));
    return false;
}

/* A declaration is only allowed before everything, and our root comes before it. */
static const char *declaration_skip(const char *text, size_t *length)
{
    const char *end = *length > 5 && strncmp(text, "<?xml", 5) == 0 ? strstr(text, "?>") : NULL;
    if (!end)
        return text;
    *length -= (size_t)(end + 2 - text);
    return end + 2;
}

static void file_parse(struct reading *reading, FILE *file)
{
    char text[4096];
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    if (!parse(reading, "<top>", 5))
        return;
    const char *first = declaration_skip(text, &length);
    while (length > 0 && parse(reading, first, length)) {
        first = text;
        length = fread(text, 1, sizeof text - 1, file);
    }
    if (length == 0)
        parse(reading, "</top>", 6);
}

void input_read(struct settings *settings, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        log_warning("roctracer", "ROCP_INPUT=%s: %s", path, strerror(errno));
        return;
    }
    struct reading reading = {.settings = settings, .path = path};
    reading.parser = XML_ParserCreate(NULL);
    if (reading.parser) {
        XML_SetUserData(reading.parser, &reading);
        XML_SetElementHandler(reading.parser, on_begin, on_end);
        file_parse(&reading, file);
        XML_ParserFree(reading.parser);
    }
    fclose(file);
}
