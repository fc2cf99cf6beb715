/* The AMDGPU metadata note: MessagePack -> struct codeobj. Internal to this folder. */
#ifndef CODEOBJ_METADATA_H
#define CODEOBJ_METADATA_H

#include "codeobj/codeobj.h"

enum codeobj_status metadata_parse(const void *note, size_t size_bytes, struct codeobj *object);

#endif
