#include "intercept/hip/transfers.h"

#include <stddef.h>

/* function, the argument that counts bytes */
#define TRANSFERS_1D(X)                                                                            \
    X(hipMemcpy, sizeBytes)                                                                        \
    X(hipMemcpyAsync, sizeBytes)                                                                   \
    X(hipMemcpyWithStream, sizeBytes)                                                              \
    X(hipMemcpyDtoD, sizeBytes)                                                                    \
    X(hipMemcpyDtoDAsync, sizeBytes)                                                               \
    X(hipMemcpyDtoH, sizeBytes)                                                                    \
    X(hipMemcpyDtoHAsync, sizeBytes)                                                               \
    X(hipMemcpyHtoD, sizeBytes)                                                                    \
    X(hipMemcpyHtoDAsync, sizeBytes)                                                               \
    X(hipMemcpyPeer, sizeBytes)                                                                    \
    X(hipMemcpyPeerAsync, sizeBytes)                                                               \
    X(hipMemcpyFromSymbol, sizeBytes)                                                              \
    X(hipMemcpyFromSymbolAsync, sizeBytes)                                                         \
    X(hipMemcpyToSymbol, sizeBytes)                                                                \
    X(hipMemcpyToSymbolAsync, sizeBytes)                                                           \
    X(hipMemcpyAtoH, count)                                                                        \
    X(hipMemcpyHtoA, count)                                                                        \
    X(hipMemcpyFromArray, count)                                                                   \
    X(hipMemcpyToArray, count)
/* Rows of `width` bytes. */
#define TRANSFERS_2D(X)                                                                            \
    X(hipMemcpy2D)                                                                                 \
    X(hipMemcpy2DAsync)                                                                            \
    X(hipMemcpy2DFromArray)                                                                        \
    X(hipMemcpy2DFromArrayAsync)                                                                   \
    X(hipMemcpy2DToArray)                                                                          \
    X(hipMemcpy2DToArrayAsync)
/* By a structure that has WidthInBytes and Height. */
#define TRANSFERS_BY_STRUCTURE_2D(X)                                                               \
    X(hipMemcpyParam2D)                                                                            \
    X(hipMemcpyParam2DAsync)                                                                       \
    X(hipDrvMemcpy2DUnaligned)
#define TRANSFERS_BY_STRUCTURE_3D(X)                                                               \
    X(hipDrvMemcpy3D)                                                                              \
    X(hipDrvMemcpy3DAsync)
#define TRANSFERS_3D(X)                                                                            \
    X(hipMemcpy3D)                                                                                 \
    X(hipMemcpy3DAsync)

/* More arguments are ignored. */
#define CASE(function, ...) case ROCPROFILER_HIP_RUNTIME_API_ID_##function

bool transfer_is_sized(int32_t operation)
{
    switch (operation) {
#define X(...) CASE(__VA_ARGS__, ) :
        TRANSFERS_1D(X)
        TRANSFERS_2D(X)
        TRANSFERS_BY_STRUCTURE_2D(X)
        TRANSFERS_BY_STRUCTURE_3D(X)
        TRANSFERS_3D(X)
#undef X
        return true;
    default:
        return false;
    }
}

static uint64_t extent_bytes(const struct hipMemcpy3DParms *copy)
{
    return !copy || copy->srcArray || copy->dstArray
               ? 0
               : copy->extent.width * copy->extent.height * copy->extent.depth;
}

uint64_t transfer_bytes(int32_t operation, const rocprofiler_hip_api_args_t *arguments)
{
    switch (operation) {
#define X(function, member) CASE(function) : return arguments->function.member;
        TRANSFERS_1D(X)
#undef X
#define X(function) CASE(function) : return arguments->function.width * arguments->function.height;
        TRANSFERS_2D(X)
#undef X
#define X(function)                                                                                \
    CASE(function)                                                                                 \
        : return !arguments->function.pCopy                                                        \
        ? 0                                                                                        \
        : arguments->function.pCopy->WidthInBytes * arguments->function.pCopy->Height;
        TRANSFERS_BY_STRUCTURE_2D(X)
#undef X
#define X(function)                                                                                \
    CASE(function)                                                                                 \
        : return !arguments->function.pCopy                                                        \
        ? 0                                                                                        \
        : arguments->function.pCopy->WidthInBytes * arguments->function.pCopy->Height *            \
              arguments->function.pCopy->Depth;
        TRANSFERS_BY_STRUCTURE_3D(X)
#undef X
#define X(function) CASE(function) : return extent_bytes(arguments->function.p);
        TRANSFERS_3D(X)
#undef X
    default:
        return 0;
    }
}
