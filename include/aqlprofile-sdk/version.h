/* The version of the interface that the headers beside this one describe (not of Crocprof). */
#ifndef AQLPROFILE_SDK_VERSION_H
#define AQLPROFILE_SDK_VERSION_H

#define AQLPROFILE_VERSION_MAJOR  1
#define AQLPROFILE_VERSION_MINOR  0
#define AQLPROFILE_VERSION_PATCH  0
#define AQLPROFILE_SOVERSION      1
#define AQLPROFILE_VERSION_STRING "1.0.0"
#define AQLPROFILE_GIT_REVISION   ""

/* One set of headers serves every build: nothing is said of the machine that built the library. */
#define AQLPROFILE_LIBRARY_ARCH     "x86_64-linux-gnu"
#define AQLPROFILE_SYSTEM_NAME      "Linux"
#define AQLPROFILE_SYSTEM_PROCESSOR "x86_64"
#define AQLPROFILE_SYSTEM_VERSION   ""
#define AQLPROFILE_COMPILER_ID      ""
#define AQLPROFILE_COMPILER_VERSION ""

/** Numbers that grow with the version: 10000 for 1.0.0. */
#define AQLPROFILE_COMPUTE_VERSION_VALUE(base, major, minor, patch)                                \
    ((base) * (base) * (major) + (base) * (minor) + (patch))
#define AQLPROFILE_COMPUTE_VERSION(major, minor, patch)                                            \
    AQLPROFILE_COMPUTE_VERSION_VALUE(100, major, minor, patch)
#define AQLPROFILE_VERSION                                                                         \
    AQLPROFILE_COMPUTE_VERSION(AQLPROFILE_VERSION_MAJOR, AQLPROFILE_VERSION_MINOR,                 \
                               AQLPROFILE_VERSION_PATCH)

#endif
