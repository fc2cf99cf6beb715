/* Versions and status texts of librocprofiler-sdk-rocpd. */
#include <rocprofiler-sdk-rocpd/rocpd.h>
#include <stddef.h>

static const struct status_text {
    const char *name;
    const char *text;
} statuses[] = {
#define STATUS(name, text) [name] = {#name, text}
    STATUS(ROCPD_STATUS_SUCCESS, "all is well"),
    STATUS(ROCPD_STATUS_ERROR, "there is no memory"),
    STATUS(ROCPD_STATUS_ERROR_INVALID_ARGUMENT, "an argument is wrong"),
    STATUS(ROCPD_STATUS_ERROR_SQL_ERROR, "the SQL engine refused it"),
    STATUS(ROCPD_STATUS_ERROR_SQL_INVALID_ENGINE, "there is no such SQL engine"),
    STATUS(ROCPD_STATUS_ERROR_SQL_INVALID_SCHEMA_KIND, "the schema has no such part"),
    STATUS(ROCPD_STATUS_ERROR_SQL_SCHEMA_NOT_FOUND, "the schema's file was not found"),
    STATUS(ROCPD_STATUS_ERROR_SQL_SCHEMA_PERMISSION_DENIED, "the schema's file cannot be read"),
#undef STATUS
};
_Static_assert(sizeof statuses / sizeof statuses[0] == ROCPD_STATUS_LAST, "a text for each status");

rocpd_status_t rocpd_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
    if (major)
        *major = ROCPD_VERSION_MAJOR;
    if (minor)
        *minor = ROCPD_VERSION_MINOR;
    if (patch)
        *patch = ROCPD_VERSION_PATCH;
    return ROCPD_STATUS_SUCCESS;
}

rocpd_status_t rocpd_get_version_triplet(rocpd_version_triplet_t *info)
{
    if (!info)
        return ROCPD_STATUS_ERROR_INVALID_ARGUMENT;
    return rocpd_get_version(&info->major, &info->minor, &info->patch);
}

const char *rocpd_get_status_name(rocpd_status_t status)
{
    return (unsigned)status < ROCPD_STATUS_LAST ? statuses[status].name : NULL;
}

const char *rocpd_get_status_string(rocpd_status_t status)
{
    return (unsigned)status < ROCPD_STATUS_LAST ? statuses[status].text : NULL;
}
