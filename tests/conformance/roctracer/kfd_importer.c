/* A library that calls libhsakmt by itself, bound at once or at its first call (see
 * CMakeLists.txt). */
#include <stdint.h>

int hsaKmtGetVersion(void *version);
int hsaKmtGetXNACKMode(int32_t *enabled);
int hsaKmtReleaseSystemProperties(void);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED void *importer_version_slot(void);
EXPORTED void *importer_xnack_slot(void);
EXPORTED int importer_release(void);

/* What stands in the library's own pointers to these functions. */
void *importer_version_slot(void)
{
    return (void *)hsaKmtGetVersion;
}

void *importer_xnack_slot(void)
{
    return (void *)hsaKmtGetXNACKMode;
}

/* An error without an open driver, which is all the same here. */
int importer_release(void)
{
    return hsaKmtReleaseSystemProperties();
}
