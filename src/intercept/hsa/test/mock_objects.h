/*
 * What mock_hsa.c plays of executables and code objects. Private to these two.
 */
#ifndef INTERCEPT_MOCK_OBJECTS_H
#define INTERCEPT_MOCK_OBJECTS_H

#include "intercept/hsa/tables.h"

struct mock_function {
    enum hsa_function function;
    void *code;
};

enum { MOCK_OBJECT_FUNCTIONS = 5 };
extern const struct mock_function mock_object_functions[MOCK_OBJECT_FUNCTIONS];

#endif
