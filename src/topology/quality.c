#include "topology/quality.h"

#include <stdlib.h>
#include <string.h>

#include "topology/sysfs.h"

#define NODES_DIR "/sys/class/kfd/kfd/topology/nodes"

struct node_quality {
    char *text; /* the file's, its lines ended by zeros */
    const char *times;
    const char **lines; /* those of counters */
    size_t count;
};

static const struct {
    const char *word;
    crocprof_quality_t quality;
} words[] = {{"exact ", CROCPROF_QUALITY_EXACT},
             {"modelled ", CROCPROF_QUALITY_MODELLED},
             {"approximate ", CROCPROF_QUALITY_APPROXIMATE}};

/* What follows the word; NULL: another one. */
static const char *behind(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

struct node_quality *node_quality_read(const char *root, uint32_t node_id)
{
    char *text = sysfs_read("%s" NODES_DIR "/%u/measurement_quality", root ? root : "", node_id);
    struct node_quality *quality = text ? calloc(1, sizeof *quality) : NULL;
    if (!quality) {
        free(text);
        return NULL;
    }
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    quality->text = text;
    quality->lines = calloc(lines, sizeof *quality->lines);
    for (char *line; quality->lines && (line = strsep(&text, "\n"));) {
        if (behind(line, "times "))
            quality->times = behind(line, "times ");
        else
            quality->lines[quality->count++] = line;
    }
    return quality;
}

void node_quality_free(struct node_quality *quality)
{
    if (!quality)
        return;
    free(quality->lines);
    free(quality->text);
    free(quality);
}

const char *node_quality_times(const struct node_quality *quality)
{
    return quality ? quality->times : NULL;
}

bool node_quality_cycles(const struct node_quality *quality, uint32_t *offset_bytes, uint64_t *hz)
{
    const char *numbers = NULL;
    for (size_t i = 0; quality && i < quality->count && !numbers; i++)
        numbers = behind(quality->lines[i], "cycles ");
    if (!numbers)
        return false;
    char *end, *last;
    unsigned long offset = strtoul(numbers, &end, 10);
    *hz = strtoull(end, &last, 10);
    *offset_bytes = (uint32_t)offset;
    return end != numbers && last != end && offset <= UINT32_MAX && *hz > 0;
}

/* "4,6-10" has it. */
static int is_listed(const char *list, uint32_t event)
{
    while (*list) {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (end == list)
            return 0;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (event >= first && event <= last)
            return 1;
        list = end + (*end == ',');
    }
    return 0;
}

crocprof_quality_t node_quality_event(const struct node_quality *quality, const char *block,
                                      uint32_t event)
{
    size_t length = strlen(block);
    if (!quality)
        return CROCPROF_QUALITY_NOT_STATED;
    for (size_t i = 0; i < quality->count; i++)
        for (size_t word = 0; word < sizeof words / sizeof words[0]; word++) {
            const char *list = behind(quality->lines[i], words[word].word);
            if (list && strncmp(list, block, length) == 0 && list[length] == ' ' &&
                is_listed(list + length + 1, event))
                return words[word].quality;
        }
    return CROCPROF_QUALITY_NOT_COUNTED;
}
