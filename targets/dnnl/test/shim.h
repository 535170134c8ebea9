/*===- shim.h - What the tests share ------------------------------*- C -*-===*/

#ifndef PHL_SHIM_H
#define PHL_SHIM_H

#include "phl_dnnl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Checks that failed. */
extern int failures;
/** The device of all tests. */
extern phl_dnnl *device;

/** New memory with numbers between -1 and 1. */
float *fill(size_t count);

/** Counts a failure unless `got` is as wanted. */
void check(const char *what, int status, const float *got, const float *want,
           size_t count);

/** The activation act of x. */
float activate(const phl_dnnl_act *act, float x);

void test_images(void);
void test_matmuls(void);

#endif /* PHL_SHIM_H */
