/*===- arm_nn_types.h - Structures of the CMSIS-NN API ------------*- C -*-===
 *
 * The public structures of CMSIS-NN v4 and later, with its names and layouts,
 * as far as arm_nnfunctions.h beside this file uses them. Written for the test
 * double; the vendor's own header takes its place when the real library is
 * linked.
 *
 *===----------------------------------------------------------------------===*/

#ifndef ARM_NN_TYPES_H
#define ARM_NN_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/** Status of a call. */
typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2,
  ARM_CMSIS_NN_FAILURE = -3
} arm_cmsis_nn_status;

/** Something that is counted along both axes of an image. */
typedef struct {
  int32_t w;
  int32_t h;
} cmsis_nn_tile;

/** Working memory of a call; `*_get_buffer_size` tells how much. */
typedef struct {
  void *buf;
  int32_t size; /**< The library does not look at it; 0 is usual. */
} cmsis_nn_context;

/** The bias of an int16 convolution. The pointer may be NULL. */
typedef struct {
  const void *data;
  const bool is_int32_bias; /**< Whether elements are int32, or int64. */
} cmsis_nn_bias_data;

/** A tensor's size. What n and c stand for depends on the tensor. */
typedef struct {
  int32_t n;
  int32_t h;
  int32_t w;
  int32_t c;
} cmsis_nn_dims;

/** One multiplier (Q31) and shift (left if positive) for each channel. */
typedef struct {
  int32_t *multiplier;
  int32_t *shift;
} cmsis_nn_per_channel_quant_params;

/** One multiplier and shift for a whole tensor. */
typedef struct {
  int32_t multiplier;
  int32_t shift;
} cmsis_nn_per_tensor_quant_params;

/** The range that results are clamped to, which is also how relu is said. */
typedef struct {
  int32_t min;
  int32_t max;
} cmsis_nn_activation;

typedef struct {
  int32_t input_offset;  /**< Added to inputs: their zero point, negated. */
  int32_t output_offset; /**< Added to results: their zero point. */
  cmsis_nn_tile stride;
  cmsis_nn_tile padding; /**< On the left and at the top. */
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  int32_t ch_mult; /**< Output channels for each input channel. */
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
  int32_t input_offset;
  int32_t filter_offset; /**< Added to weights: their zero point, negated. */
  int32_t output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

/** Tables of 513 points each: e^x on [-10, 0] and 1 / (1 + x) on [0, 1]. */
typedef struct {
  const int16_t *exp_lut;
  const int16_t *one_by_one_lut;
} cmsis_nn_softmax_lut_s16;

#endif /* ARM_NN_TYPES_H */
