#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/sinks.h"
#include "launch/keys.h"
#include "launch/manifest.h"
#include "out/out.h"
#include "out/place.h"
#include "refuse.h"

static int formats_check(const char *formats)
{
    char name[32], known[200] = "";
    while (settings_list_next(&formats, name, sizeof name))
        if (strcmp(name, OUT_NO_FORMAT) != 0 && !out_find(name)) {
            out_names(known, sizeof known);
            return refuse(EXIT_USAGE, "unknown format %s (known: %s)", name, known);
        }
    return 0;
}

/* Proves that files can be made in it. */
static int directory_probe(const char *directory)
{
    char probe[PATH_MAX + 32];
    struct stat status;
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
        return refuse(EXIT_USAGE, "%s: not a directory", directory);
    snprintf(probe, sizeof probe, "%s/.crocprof-XXXXXX", directory);
    int file = mkstemp(probe);
    if (file < 0)
        return refuse(EXIT_USAGE, "%s: cannot write there: %s", directory, strerror(errno));
    close(file);
    unlink(probe);
    return 0;
}

/* The part of the name that is a directory whatever the keys say. */
static void fixed_directory(const char *name, char directory[PATH_MAX])
{
    size_t length = keys_fixed_length(name);
    snprintf(directory, PATH_MAX, "%.*s", (int)length, name);
    char *slash = strrchr(directory, '/');
    if (name[length] && slash)
        slash[slash == directory] = 0;
    else if (name[length])
        strcpy(directory, ".");
}

/* A relative directory must stay the same place when the program changes its own. */
static int absolute_put(struct cli_options *options, enum option_id id, const char *name)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    if (name[0] == '/')
        return cli_option_set(options, id, name);
    if (!getcwd(here, sizeof here))
        return -errno;
    if (snprintf(path, sizeof path, "%s/%s", here, name) >= PATH_MAX)
        return -ENAMETOOLONG;
    return cli_option_set(options, id, path);
}

static int directory_prepare(struct cli_options *options, const char *subdirectory)
{
    const char *given = settings_text(&options->settings, OPTION_OUTPUT_DIRECTORY);
    char name[PATH_MAX], directory[PATH_MAX];
    int length = snprintf(name, sizeof name, "%s%s%s", given ? given : ".", subdirectory ? "/" : "",
                          subdirectory ? subdirectory : "");
    if (length >= (int)sizeof name)
        return refuse(EXIT_USAGE, "%s: %s", given, strerror(ENAMETOOLONG));
    fixed_directory(name, directory);
    int status = place_directory_make(directory);
    if (status != 0)
        return refuse(EXIT_USAGE, "%s: %s", directory, strerror(-status));
    status = absolute_put(options, OPTION_OUTPUT_DIRECTORY, name);
    if (status != 0)
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(-status));
    return directory_probe(directory);
}

/*
 * Every process of the program adds its tables to the file, so it is emptied here, and only here. A
 * pipe or a terminal is left alone: opening and closing it would end it for its reader.
 */
static int summary_prepare(struct cli_options *options)
{
    const char *name = settings_text(&options->settings, OPTION_SUMMARY_OUTPUT_FILE);
    struct stat found;
    if (!name || strcmp(name, "stderr") == 0 || strcmp(name, "stdout") == 0)
        return 0;
    int status = absolute_put(options, OPTION_SUMMARY_OUTPUT_FILE, name);
    if (status != 0)
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(-status));
    name = settings_text(&options->settings, OPTION_SUMMARY_OUTPUT_FILE);
    if (name[keys_fixed_length(name)])
        return 0; /* the processes make it, each its own */
    if (stat(name, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
        return 0;
    status = place_parent_make(name);
    int file = status == 0 ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(status ? -status : errno));
    close(file);
    return 0;
}

int places_prepare(struct cli_options *options, const char *subdirectory)
{
    const char *formats = settings_text(&options->settings, OPTION_OUTPUT_FORMAT);
    int status = formats ? formats_check(formats) : 0;
    if (status == 0 && (!formats || strcmp(formats, OUT_NO_FORMAT) != 0))
        status = directory_prepare(options, subdirectory);
    return status == 0 ? summary_prepare(options) : status;
}

/* "DIR/NAME" of a run whose processes all write under one name. */
static bool shared_stem(const struct settings *settings, char stem[PATH_MAX])
{
    const char *name = settings_text(settings, OPTION_OUTPUT_FILE);
    const char *directory = settings_text(settings, OPTION_OUTPUT_DIRECTORY);
    return name && sinks_wanted(settings) && !keys_tell_processes_apart(name) &&
           !(directory && keys_tell_processes_apart(directory)) && sinks_stem(settings, stem) == 0;
}

void places_renew(const struct settings *settings)
{
    char stem[PATH_MAX];
    if (shared_stem(settings, stem))
        manifest_renew(stem);
}

void places_settle(const struct settings *settings)
{
    char stem[PATH_MAX];
    if (shared_stem(settings, stem))
        manifest_settle(stem);
}
