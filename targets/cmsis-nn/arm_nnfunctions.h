/*===- arm_nnfunctions.h - The called subset of CMSIS-NN ----------*- C -*-===
 *
 * Prototypes of the functions of CMSIS-NN (v6 and later) that Phaseline
 * generates calls of, implemented beside this file in portable C as a test
 * double: results are equal to the library's bit by bit, speed is no goal.
 *
 * Images are NHWC. Numbers are int8 or int16: a real is scale * (q -
 * zero_point). Sums are int32 and return to int8 by a Q31 multiplier and a
 * shift, rounded as TensorFlow Lite does: a doubling high product that rounds
 * halves up, then a division by a power of two that rounds halves away from
 * zero.
 *
 * Every function returns ARM_CMSIS_NN_ARG_ERROR, and computes nothing, for
 * arguments that have no meaning, and ARM_CMSIS_NN_FAILURE for a layer that the
 * library computes wrongly on the core that the double is compiled for, or for
 * which it leaves its memory (cmsis_nn_limits.h).
 *
 *===----------------------------------------------------------------------===*/

#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include "arm_nn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * 2-d convolution. input [N H W C_IN], filter [C_OUT KH KW C_IN], output
 * [N OH OW C_OUT]. `bias_data` has C_OUT elements or is NULL.
 */
arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data);

/** Bytes of `ctx->buf` that arm_convolve_wrapper_s8 needs. */
int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims);

/**
 * Depthwise convolution: output channel c sees input channel c / ch_mult only.
 * filter [1 KH KW C_OUT].
 */
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data);

/** The same without working memory, for each core the slowest way. */
arm_cmsis_nn_status arm_depthwise_conv_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data);

/** Bytes of `ctx->buf` that arm_depthwise_conv_wrapper_s8 needs. */
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims);

/**
 * 2-d convolution of int16 with int8 weights; there are no zero points. With an
 * int32 bias sums are int32; with an int64 one they are int64, and multipliers
 * are rounded to 15 bits. `bias_data` itself is never NULL.
 */
arm_cmsis_nn_status arm_convolve_wrapper_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data);

/** Bytes of `ctx->buf` that arm_convolve_wrapper_s16 needs. */
int32_t arm_convolve_wrapper_s16_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims);

/** Depthwise convolution of int16 with int8 weights, with sums in int64. */
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data);

/** Bytes of `ctx->buf` that arm_depthwise_conv_wrapper_s16 needs. */
int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims);

/**
 * Product of `input_dims->n` rows, each of `filter_dims->n` elements, with a
 * filter of [C_OUT, filter_dims->n]; C_OUT is `output_dims->c`.
 */
arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data);

/** Bytes of `ctx->buf` that arm_fully_connected_s8 needs. */
int32_t
arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims);

/** The same for int16 rows with int8 weights, with sums in int64. */
arm_cmsis_nn_status arm_fully_connected_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data);

/** Bytes of `ctx->buf` that arm_fully_connected_s16 needs. */
int32_t
arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims);

/**
 * Mean of the elements of each window that are inside of the image, rounded
 * with halves away from zero. Input and output share scale and zero point.
 */
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int8_t *output_data);

/** Bytes of `ctx->buf` that arm_avgpool_s8 needs. */
int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width,
                                       const int ch_src);

/** The same for int16. */
arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int16_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int16_t *output_data);

/** Bytes of `ctx->buf` that arm_avgpool_s16 needs. */
int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width,
                                        const int ch_src);

/** Greatest element of each window that is inside of the image. */
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output_data);

/** The same for int16. */
arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx,
                                     const cmsis_nn_pool_params *pool_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims,
                                     const cmsis_nn_dims *output_dims,
                                     int16_t *output_data);

/**
 * Sum of two tensors: both are shifted left by `left_shift`, brought to one
 * scale by their multipliers, added, and scaled to the output.
 */
arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_1_mult,
    const int32_t input_1_shift, const int32_t input_2_offset,
    const int32_t input_2_mult, const int32_t input_2_shift,
    const int32_t left_shift, int8_t *output, const int32_t out_offset,
    const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size);

/** The same for int16. Zero points are 0; offsets are not looked at. */
arm_cmsis_nn_status arm_elementwise_add_s16(
    const int16_t *input_1_vect, const int16_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_1_mult,
    const int32_t input_1_shift, const int32_t input_2_offset,
    const int32_t input_2_mult, const int32_t input_2_shift,
    const int32_t left_shift, int16_t *output, const int32_t out_offset,
    const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size);

/** Product of two tensors, element by element. */
arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_2_offset, int8_t *output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size);

/** The same for int16. Zero points are 0; offsets are not looked at. */
arm_cmsis_nn_status arm_elementwise_mul_s16(
    const int16_t *input_1_vect, const int16_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_2_offset, int16_t *output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size);

/**
 * Softmax of each row. `mult` and `shift` bring differences of inputs to Q5.26;
 * differences below `diff_min` count as 0. The output's scale is 1/256, its
 * zero point -128.
 */
void arm_softmax_s8(const int8_t *input, const int32_t num_rows,
                    const int32_t row_size, const int32_t mult,
                    const int32_t shift, const int32_t diff_min,
                    int8_t *output);

/**
 * Softmax of each row of int16, by the tables of `softmax_params`. `mult` and
 * `shift` bring differences of inputs to steps of 10/65535. The output's scale
 * is 1/32768.
 */
arm_cmsis_nn_status
arm_softmax_s16(const int16_t *input, const int32_t num_rows,
                const int32_t row_size, const int32_t mult, const int32_t shift,
                const cmsis_nn_softmax_lut_s16 *softmax_params,
                int16_t *output);

#ifdef __cplusplus
}
#endif

#endif /* ARM_NNFUNCTIONS_H */
