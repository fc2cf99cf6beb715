/*
 * What hsa_double.c plays of executables and code objects. Private to these two.
 */
#ifndef INTERCEPT_OBJECTS_DOUBLE_H
#define INTERCEPT_OBJECTS_DOUBLE_H

#include "intercept/hsa/tables.h"

struct double_function {
    enum hsa_function function;
    void *code;
};

enum { DOUBLE_OBJECT_FUNCTIONS = 5 };
extern const struct double_function double_object_functions[DOUBLE_OBJECT_FUNCTIONS];

#endif
