#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "launch/keys.h"
#include "names/nearest.h"
#include "out/out.h"

struct line {
    struct cli_options *options;
    char **words;
    int count, at, dashes; /* `dashes`: where "--" is, or count */
    char *error;
    unsigned error_size;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(line->error, line->error_size, format, args);
    va_end(args);
    return -EINVAL;
}

/* ---- values */

int cli_option_set(struct cli_options *options, enum option_id id, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    free(options->made[id]);
    options->made[id] = copy;
    options->settings.value[id] = copy;
    return 0;
}

static int append(struct cli_options *options, enum option_id id, const char *separator,
                  const char *value)
{
    const char *before = options->settings.value[id];
    char *both;
    if (!before)
        return cli_option_set(options, id, value);
    if (asprintf(&both, "%s%s%s", before, separator, value) < 0)
        return -ENOMEM;
    free(options->made[id]);
    options->made[id] = both;
    options->settings.value[id] = both;
    return 0;
}

/* The word is one of those that '|' joins, in any case; *at and *length are the table's spelling.
 */
static bool is_choice(const char *choices, const char *word, const char **at, size_t *length)
{
    for (*at = choices; **at; *at += *length + ((*at)[*length] == '|')) {
        *length = strcspn(*at, "|");
        if (strlen(word) == *length && strncasecmp(*at, word, *length) == 0)
            return true;
    }
    return false;
}

static int choice_set(struct line *line, enum option_id id, const char *value)
{
    const char *at;
    size_t length;
    char word[32];
    if (!is_choice(options_table[id].value, value, &at, &length))
        return wrong(line, "--%s: %s is none of %s", options_table[id].name, value,
                     options_table[id].value);
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    return cli_option_set(line->options, id, word);
}

static int number_set(struct line *line, enum option_id id, const char *value)
{
    if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 18)
        return wrong(line, "--%s: %s is not a number", options_table[id].name, value);
    return cli_option_set(line->options, id, value);
}

/* Where the words go that a switch may have; OPTION_COUNT: it has none. */
static enum option_id words_of(enum option_id id)
{
    return id == OPTION_OMPT_TRACE ? OPTION_OMPT_OPERATIONS : OPTION_COUNT;
}

/* One or some, with commas: it is on for these, and for what it was on for. */
static int words_set(struct line *line, enum option_id id, const char *value)
{
    char word[32];
    const char *rest = value, *at, *const *values = line->options->settings.value;
    size_t length;
    bool has_all = values[id] && strcmp(values[id], "1") == 0 && !values[words_of(id)];
    int status = has_all ? cli_option_set(line->options, words_of(id), "all")
                         : cli_option_set(line->options, id, "1");
    while (status == 0 && settings_list_next(&rest, word, sizeof word)) {
        if (!is_choice(options_table[id].value, word, &at, &length))
            return wrong(line, "--%s: %s is none of %s", options_table[id].name, word,
                         options_table[id].value);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        status = append(line->options, words_of(id), option_separator(words_of(id)), word);
    }
    return status;
}

static int flag_set(struct line *line, enum option_id id, const char *value)
{
    bool truth;
    if (settings_truth(value, &truth))
        return cli_option_set(line->options, id, truth ? "1" : "0");
    if (words_of(id) != OPTION_COUNT)
        return words_set(line, id, value);
    return wrong(line, "--%s: %s is neither yes nor no", options_table[id].name, value);
}

/* The paths of files may have keys. Those that the profiled processes write are left to them: each
 * has keys of its own. */
static bool is_path(const char *value)
{
    return value && (strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0);
}

static int path_expand(struct line *line, const char *name, const char *value, char path[PATH_MAX])
{
    int status = keys_expand(value, path, PATH_MAX);
    return status == 0 ? 0 : wrong(line, "--%s: %s: %s", name, value, strerror(-status));
}

static int text_set(struct line *line, enum option_id id, const char *value)
{
    char path[PATH_MAX];
    if (options_table[id].variable || !is_path(options_table[id].value))
        return cli_option_set(line->options, id, value);
    int status = path_expand(line, options_table[id].name, value, path);
    return status == 0 ? cli_option_set(line->options, id, path) : status;
}

/* `first` of its occurrence: an occurrence of --pmc is a line of its own. */
static int value_set(struct line *line, enum option_id id, const char *value, bool first)
{
    switch (options_table[id].kind) {
    case OPTION_FLAG:
        return flag_set(line, id, value);
    case OPTION_CHOICE:
        return choice_set(line, id, value);
    case OPTION_NUMBER:
        return number_set(line, id, value);
    case OPTION_LIST:
        return append(line->options, id, first || id != OPTION_PMC ? option_separator(id) : " ",
                      value);
    case OPTION_CHOICES:
        return append(line->options, id, option_separator(id), value);
    default:
        return text_set(line, id, value);
    }
}

static int own_add(struct cli_options *options, int option, const char *value)
{
    struct own_value *grown =
        realloc(options->own, (options->own_count + 1) * sizeof *options->own);
    if (!grown)
        return -ENOMEM;
    options->own = grown;
    char *text = strdup(value);
    if (!text)
        return -ENOMEM;
    grown[options->own_count++] = (struct own_value){option, text};
    return 0;
}

static int own_set(struct line *line, int index, const char *value)
{
    const struct command_option *option = &line->options->of->options[index];
    const char *at;
    size_t length;
    bool truth;
    char word[32], path[PATH_MAX];
    switch (option->kind) {
    case OPTION_FLAG:
        if (!settings_truth(value, &truth))
            return wrong(line, "--%s: %s is neither yes nor no", option->name, value);
        return own_add(line->options, index, truth ? "1" : "0");
    case OPTION_CHOICE:
        if (!is_choice(option->value, value, &at, &length))
            return wrong(line, "--%s: %s is none of %s", option->name, value, option->value);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        return own_add(line->options, index, word);
    case OPTION_NUMBER:
        if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 18)
            return wrong(line, "--%s: %s is not a number", option->name, value);
        return own_add(line->options, index, value);
    case OPTION_TEXT:
        if (is_path(option->value) && path_expand(line, option->name, value, path) != 0)
            return -EINVAL;
        return own_add(line->options, index, is_path(option->value) ? path : value);
    default:
        return own_add(line->options, index, value);
    }
}

/* ---- words */

/* The word behind the option, if it can be its value; NULL otherwise. */
static char *next_value(struct line *line)
{
    int next = line->at + 1;
    if (next >= line->count || next == line->dashes)
        return NULL;
    return line->words[next];
}

static bool is_negative_number(const char *word)
{
    return word[0] == '-' && isdigit((unsigned char)word[1]);
}

/* Another format, in front of a word that may be the program: none is called as they are. */
static bool is_format(const struct line *line, enum option_id id, const char *word)
{
    return id == OPTION_OUTPUT_FORMAT && line->at + 2 < line->count && out_find(word) != NULL;
}

/* A program that has a "--" of its own must not become a counter. */
static bool is_in_list(enum option_id id, const char *word)
{
    return word[0] != '-' && !(id == OPTION_PMC && strchr(word, '/'));
}

static int list_take(struct line *line, enum option_id id)
{
    char *value = next_value(line);
    bool whole = line->dashes < line->count; /* it is clear where the program begins */
    if (!value || !value[strspn(value, " ,")] || (value[0] == '-' && !is_negative_number(value)))
        return wrong(line, "--%s needs a value", options_table[id].name);
    for (bool first = true;
         value && (first || (whole && is_in_list(id, value)) || is_format(line, id, value));
         first = false) {
        int status = value_set(line, id, value, first);
        if (status != 0)
            return status;
        line->at++;
        value = next_value(line);
    }
    return 0;
}

/* Words behind a switch, up to the next option, or to what may be the program: only rocprofv3's
 * stands behind "--" for certain. Without any, all of them are meant, also beside those named
 * before. */
static int words_take(struct line *line, enum option_id id)
{
    const char *at, *value = line->dashes < line->count ? next_value(line) : NULL;
    size_t length;
    bool has_words = false;
    int status = 0;
    while (status == 0 && value && value[0] != '-' &&
           (line->options->like_rocprofv3 ||
            is_choice(options_table[id].value, value, &at, &length))) {
        status = words_set(line, id, value);
        has_words = true;
        line->at++;
        value = next_value(line);
    }
    if (status != 0 || has_words)
        return status;
    return line->options->settings.value[words_of(id)] ? words_set(line, id, "all")
                                                       : cli_option_set(line->options, id, "1");
}

/* What says yes or no behind a switch, where it is clear where the program begins; NULL: nothing.
 */
static const char *truth_take(struct line *line)
{
    const char *value = line->dashes < line->count ? next_value(line) : NULL;
    bool truth;
    if (!value || !settings_truth(value, &truth))
        return NULL;
    line->at++;
    return value;
}

static int flag_take(struct line *line, enum option_id id)
{
    const char *value = truth_take(line);
    if (!value && words_of(id) != OPTION_COUNT)
        return words_take(line, id);
    return flag_set(line, id, value ? value : "yes");
}

/* `value`: what stands in the same word, or NULL. Moves to the last word taken. */
static int option_take(struct line *line, enum option_id id, const char *value)
{
    enum option_kind kind = options_table[id].kind;
    if (value)
        return *value ? value_set(line, id, value, true)
                      : wrong(line, "--%s needs a value", options_table[id].name);
    if (kind == OPTION_FLAG)
        return flag_take(line, id);
    if (kind == OPTION_LIST || kind == OPTION_CHOICES)
        return list_take(line, id);
    value = next_value(line);
    if (!value || !*value)
        return wrong(line, "--%s needs a value", options_table[id].name);
    line->at++;
    return value_set(line, id, value, true);
}

static int moot_take(struct line *line, int index, const char *value)
{
    if (!value && find_moot[index].kind == OPTION_FLAG) {
        truth_take(line);
    } else if (!value) {
        if (!next_value(line))
            return wrong(line, "--%s needs a value", find_moot[index].name);
        line->at++;
    }
    fprintf(stderr, "crocprof: --%s changes nothing: %s\n", find_moot[index].name,
            find_moot[index].why);
    return 0;
}

static int missing_take(struct line *line, int index, const char *value)
{
    bool truth = true;
    value = value ? value : truth_take(line);
    if (value && settings_truth(value, &truth) && !truth)
        return 0; /* "--x=no": so it is */
    return wrong(line, "--%s: %s", find_missing[index].name, find_missing[index].why);
}

static int own_take(struct line *line, int index, const char *value)
{
    const struct command_option *option = &line->options->of->options[index];
    if (!value && option->kind == OPTION_FLAG)
        value = "yes";
    else if (!value && (value = next_value(line)))
        line->at++;
    if (!value || !*value)
        return wrong(line, "--%s needs a value", option->name);
    int status = own_set(line, index, value);
    bool goes_on = line->options->of->lists_go_on && option->kind == OPTION_LIST;
    while (goes_on && status == 0 && (value = next_value(line)) && value[0] != '-') {
        line->at++;
        status = own_set(line, index, value);
    }
    return status;
}

static int found_take(struct line *line, struct found found, const char *value)
{
    switch (found.kind) {
    case FOUND_OWN:
        return own_take(line, found.index, value);
    case FOUND_OPTION:
        return option_take(line, (enum option_id)found.index, value);
    case FOUND_MOOT:
        return moot_take(line, found.index, value);
    case FOUND_MISSING:
        return missing_take(line, found.index, value);
    case FOUND_COMMAND:
        line->options->command = find_command(found);
        return 0;
    default:
        return -ENOENT;
    }
}

static int option_unknown(struct line *line, const char *word)
{
    const struct command *of = line->options->of;
    return wrong(line, "unknown option %s (see %s%s%s --help)", word, command_tool(of),
                 of ? " " : "", of ? of->name : "");
}

static int unknown(struct line *line, const char *word, const char *name, size_t length)
{
    char text[64];
    struct nearest nearest;
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    nearest_begin(&nearest, text);
    for (int i = 0, count = find_own_count(line->options); i < count; i++)
        nearest_add(&nearest, line->options->of->options[i].name);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].name && find_is_taken(line->options, (enum option_id)id))
            nearest_add(&nearest, options_table[id].name);
    if (nearest.best)
        return wrong(line, "unknown option %s (did you mean --%s?)", word, nearest.best);
    return option_unknown(line, word);
}

static int long_take(struct line *line, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    struct found found = find_name(line->options, name, length);
    if (found.kind != FOUND_NOTHING)
        return found_take(line, found, value);
    if (!value && length > 3 && strncmp(name, "no-", 3) == 0) {
        found = find_name(line->options, name + 3, length - 3);
        if (found.kind == FOUND_OPTION && options_table[found.index].kind == OPTION_FLAG)
            return flag_set(line, (enum option_id)found.index, "no");
        if (found.kind == FOUND_OWN && line->options->of->options[found.index].kind == OPTION_FLAG)
            return own_set(line, found.index, "no");
        if (found.kind == FOUND_MISSING)
            return 0;
    }
    return unknown(line, word, name, length);
}

static enum option_kind found_kind_of(const struct line *line, struct found found)
{
    return found.kind == FOUND_OWN      ? line->options->of->options[found.index].kind
           : found.kind == FOUND_OPTION ? options_table[found.index].kind
                                        : OPTION_FLAG;
}

/* "-xvalue", or letters of switches. */
static int short_take(struct line *line, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        struct found found = find_letter(line->options, *letter);
        bool is_switch = found_kind_of(line, found) == OPTION_FLAG;
        bool last = !letter[1] || !is_switch;
        int status;
        if (found.kind == FOUND_NOTHING)
            return option_unknown(line, word);
        if (is_switch && !last && found.kind == FOUND_OPTION)
            status = flag_set(line, (enum option_id)found.index, "yes");
        else
            status = found_take(line, found, !is_switch && letter[1] ? letter + 1 : NULL);
        if (status != 0 || last)
            return status;
    }
    return 0;
}

int cli_option_take(struct cli_options *options, const char *name, const char *value, char *error,
                    unsigned error_size)
{
    struct line line = {.options = options, .error = error, .error_size = error_size};
    struct found found = find_name(options, name, strlen(name));
    if (found.kind != FOUND_NOTHING && found.kind != FOUND_COMMAND)
        return found_take(&line, found, value);
    unknown(&line, name, name, strlen(name));
    return -ENOENT;
}

static bool is_rocprofv3(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "rocprofv3", 9) == 0;
}

static int program_take(struct line *line)
{
    struct cli_options *options = line->options;
    options->is_certain = line->at == line->dashes;
    line->at += options->is_certain;
    if (options->command != CLI_RUN)
        return 0;
    if (line->at < line->count)
        options->program = line->words + line->at;
    else if (options->settings.value[OPTION_PID])
        return 0; /* that is the program */
    else if (!options->of && settings_flag(&options->settings, OPTION_LIST_AVAIL))
        return 0;
    else if (!options->of && options->settings.value[OPTION_INPUT])
        return 0; /* jobs that list need none; who runs them looks */
    else if (!options->of || options->of->operands_min > 0)
        return wrong(line, "which program? (see crocprof --help)");
    return 0;
}

static bool is_option(const struct line *line)
{
    return line->at != line->dashes && line->words[line->at][0] == '-' && line->words[line->at][1];
}

static int word_take(struct line *line)
{
    const char *word = line->words[line->at];
    return word[1] == '-' ? long_take(line, word) : short_take(line, word);
}

/* Options, then a program. */
static int line_take(struct line *line)
{
    for (int i = line->count - 1; i > 0; i--)
        if (strcmp(line->words[i], "--") == 0)
            line->dashes = i;
    for (; line->at < line->count && is_option(line); line->at++) {
        int status = word_take(line);
        if (status != 0)
            return status;
    }
    return program_take(line);
}

int cli_options_parse(struct cli_options *options, int argc, char **argv, char *error,
                      unsigned error_size)
{
    struct line line = {options, argv, argc, 1, argc, error, error_size};
    *options = (struct cli_options){.command = CLI_RUN,
                                    .like_rocprofv3 = argc > 0 && is_rocprofv3(argv[0])};
    return line_take(&line);
}

static int operands_check(struct line *line)
{
    const struct cli_options *options = line->options;
    const struct command *of = options->of;
    if (options->command != CLI_RUN ||
        (options->operand_count >= of->operands_min && options->operand_count <= of->operands_max))
        return 0;
    if (of->operands_max == 0)
        return wrong(line, "%s takes no arguments; a program of that name goes after --", of->name);
    return wrong(line, "usage: %s %s [options] %s", command_tool(of), of->name, of->operands);
}

/* Options and operands in any order, the last ones behind "--". */
static int operands_take(struct line *line)
{
    struct cli_options *options = line->options;
    options->operands = calloc((size_t)line->count + 1, sizeof *options->operands);
    if (!options->operands)
        return -ENOMEM;
    for (int i = line->count - 1; i > 0; i--)
        if (strcmp(line->words[i], "--") == 0)
            line->dashes = i;
    for (; line->at < line->count; line->at++) {
        int status = 0;
        if (line->at < line->dashes && is_option(line))
            status = word_take(line);
        else if (line->at != line->dashes)
            options->operands[options->operand_count++] = line->words[line->at];
        if (status != 0)
            return status;
        if (line->at < line->dashes)
            options->operands_free = options->operand_count;
    }
    return operands_check(line);
}

int command_parse(struct cli_options *options, const struct command *command, int count,
                  char **words, char *error, unsigned error_size)
{
    struct line line = {options, words, count, 1, count, error, error_size};
    *options = (struct cli_options){.command = CLI_RUN, .of = command};
    return command->takes_program ? line_take(&line) : operands_take(&line);
}

int cli_options_copy(struct cli_options *to, const struct cli_options *from)
{
    struct cli_options copy = *from;
    memset(copy.made, 0, sizeof copy.made);
    copy.operands = NULL;
    copy.own = NULL;
    copy.operand_count = copy.own_count = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (from->settings.value[id] &&
            cli_option_set(&copy, (enum option_id)id, from->settings.value[id]) != 0) {
            cli_options_free(&copy);
            return -ENOMEM;
        }
    *to = copy;
    return 0;
}

void cli_options_free(struct cli_options *options)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        free(options->made[id]);
    memset(options->made, 0, sizeof options->made);
    for (unsigned i = 0; i < options->own_count; i++)
        free(options->own[i].text);
    free(options->own);
    free(options->operands);
    options->own = NULL;
    options->operands = NULL;
    options->own_count = options->operand_count = 0;
}
