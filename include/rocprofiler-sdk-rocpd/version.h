/* The version of the database schema's interface that these headers describe. */
#ifndef ROCPROFILER_SDK_ROCPD_VERSION_H
#define ROCPROFILER_SDK_ROCPD_VERSION_H

#define ROCPD_IS_ROCPROFILER_SDK 1
#define ROCPD_VERSION_MAJOR      1
#define ROCPD_VERSION_MINOR      0
#define ROCPD_VERSION_PATCH      0
#define ROCPD_SOVERSION          (10000 * ROCPD_VERSION_MAJOR)
#define ROCPD_VERSION_STRING     "1.0.0"
#define ROCPD_GIT_DESCRIBE       "crocprof"
#define ROCPD_GIT_REVISION       ""
#define ROCPD_LIBRARY_ARCH       "x86_64-linux-gnu"
#define ROCPD_SYSTEM_NAME        "Linux"
#define ROCPD_SYSTEM_PROCESSOR   "x86_64"
/* One set of headers serves every build: nothing is said of the machine that built the library. */
#define ROCPD_SYSTEM_VERSION   ""
#define ROCPD_COMPILER_ID      ""
#define ROCPD_COMPILER_VERSION ""
#define ROCPD_VERSION                                                                              \
    (10000 * ROCPD_VERSION_MAJOR + 100 * ROCPD_VERSION_MINOR + ROCPD_VERSION_PATCH)

#endif
