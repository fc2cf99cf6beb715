/* --output-config: the settings of this process, as a file. */
#ifndef COLLECT_CONFIG_H
#define COLLECT_CONFIG_H

#include "launch/settings.h"

/* Writes PREFIX_config.json, an object of variables and their values. A message goes to stderr when
 * that fails. */
void config_write(const struct settings *settings, const char *prefix);

#endif
