/*
 * Messages to the person running the program. One line each, written with write(2) only, so that
 * it is safe inside interposed libc functions and signal handlers. Never on a record path.
 *
 * CROC_LOG_LEVEL = error | warning (default) | info | debug
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Any thread. `module` is a short word ("session", "driver"); the line is cut at 1000 bytes. */
__attribute__((format(printf, 3, 4))) void log_write(enum log_level level, const char *module,
                                                     const char *format, ...);

/* For callers that must build an expensive message. */
int log_enabled(enum log_level level);

#define log_error(module, ...)   log_write(LOG_ERROR, module, __VA_ARGS__)
#define log_warning(module, ...) log_write(LOG_WARNING, module, __VA_ARGS__)
#define log_info(module, ...)    log_write(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...)   log_write(LOG_DEBUG, module, __VA_ARGS__)

#endif
