/* The functions of libopen-trace-format2, looked up when they are first wanted: programs that write
 * no archive do not load it, and it is not needed where nobody does. */
#ifndef OUT_OTF2_LIBRARY_H
#define OUT_OTF2_LIBRARY_H

#include <stddef.h>

#include <otf2/otf2.h>

#define OTF2_FUNCTIONS(X)                                                                          \
    X(Error_RegisterCallback)                                                                      \
    X(Error_GetDescription)                                                                        \
    X(Archive_Open)                                                                                \
    X(Archive_Close)                                                                               \
    X(Archive_SetCreator)                                                                          \
    X(Archive_SetFlushCallbacks)                                                                   \
    X(Archive_SetMemoryCallbacks)                                                                  \
    X(Archive_SetSerialCollectiveCallbacks)                                                        \
    X(Archive_OpenEvtFiles)                                                                        \
    X(Archive_CloseEvtFiles)                                                                       \
    X(Archive_GetEvtWriter)                                                                        \
    X(Archive_CloseEvtWriter)                                                                      \
    X(Archive_OpenDefFiles)                                                                        \
    X(Archive_CloseDefFiles)                                                                       \
    X(Archive_GetDefWriter)                                                                        \
    X(Archive_CloseDefWriter)                                                                      \
    X(Archive_GetGlobalDefWriter)                                                                  \
    X(EvtWriter_Enter)                                                                             \
    X(EvtWriter_Leave)                                                                             \
    X(EvtWriter_Metric)                                                                            \
    X(AttributeList_New)                                                                           \
    X(AttributeList_Delete)                                                                        \
    X(AttributeList_AddUint64)                                                                     \
    X(AttributeList_AddStringRef)                                                                  \
    X(GlobalDefWriter_WriteAttribute)                                                              \
    X(GlobalDefWriter_WriteClockProperties)                                                        \
    X(GlobalDefWriter_WriteLocation)                                                               \
    X(GlobalDefWriter_WriteLocationGroup)                                                          \
    X(GlobalDefWriter_WriteMetricClass)                                                            \
    X(GlobalDefWriter_WriteMetricMember)                                                           \
    X(GlobalDefWriter_WriteRegion)                                                                 \
    X(GlobalDefWriter_WriteString)                                                                 \
    X(GlobalDefWriter_WriteSystemTreeNode)

struct otf2_library {
#define X(name) __typeof__(OTF2_##name) *name;
    OTF2_FUNCTIONS(X)
#undef X
};

/* NULL, with a message, where it is not installed. */
const struct otf2_library *otf2_library_get(char *error, size_t error_size);

#endif
