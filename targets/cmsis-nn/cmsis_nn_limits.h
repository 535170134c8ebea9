/*===- cmsis_nn_limits.h - What the real library cannot do --------*- C -*-===
 *
 * The library chooses a function by the layer and by the core, and some of them
 * are wrong for layers that they are chosen for, or leave the memory that they
 * are given. The double refuses these calls with ARM_CMSIS_NN_FAILURE.
 *
 *===----------------------------------------------------------------------===*/

#ifndef CMSIS_NN_LIMITS_H
#define CMSIS_NN_LIMITS_H

#include "arm_nn_types.h"

#include <string.h>

/* The core that the double behaves like is that of ARM_MATH_MVEI (Helium:
   Cortex-M52, M55, M85) or ARM_MATH_DSP (Cortex-M4, M7, M33, M35P), which the
   real library is compiled with; or that whose name is PHL_MCPU, the option of
   the target; or one with neither. */
#define NN_TEXT_OF(x) #x
#define NN_TEXT(x) NN_TEXT_OF(x)

static inline bool nn_has_helium(void) {
#if defined(ARM_MATH_MVEI)
  return true;
#elif defined(PHL_MCPU) && !defined(ARM_MATH_DSP)
  const char *core = NN_TEXT(PHL_MCPU);
  return !strcmp(core, "cortex-m52") || !strcmp(core, "cortex-m55") ||
         !strcmp(core, "cortex-m85");
#else
  return false;
#endif
}

/** True for the DSP extension without Helium. */
static inline bool nn_has_dsp(void) {
#if defined(ARM_MATH_DSP) && !defined(ARM_MATH_MVEI)
  return true;
#elif defined(PHL_MCPU) && !defined(ARM_MATH_MVEI)
  const char *core = NN_TEXT(PHL_MCPU);
  return !strcmp(core, "cortex-m4") || !strcmp(core, "cortex-m7") ||
         !strcmp(core, "cortex-m33") || !strcmp(core, "cortex-m35p");
#else
  return false;
#endif
}

/** The function that a convolution of int8 goes to. */
typedef enum {
  NN_CONVOLVE_ANY,  /**< Gathers windows. */
  NN_CONVOLVE_1X1,  /**< A product of matrices. */
  NN_CONVOLVE_ROWS, /**< Helium: windows are read where they lie in a row. */
} nn_convolution_kind;

nn_convolution_kind nn_kind_of_convolution(const cmsis_nn_conv_params *params,
                                           const cmsis_nn_dims *in,
                                           const cmsis_nn_dims *filter);

/** The function that a depthwise convolution goes to. */
typedef enum {
  NN_DEPTHWISE_ANY,
  NN_DEPTHWISE_3X3,
  NN_DEPTHWISE_GATHERED, /**< Windows are copied to the working memory. */
} nn_depthwise_kind;

nn_depthwise_kind nn_kind_of_depthwise(const cmsis_nn_dw_conv_params *params,
                                       const cmsis_nn_dims *in,
                                       const cmsis_nn_dims *filter);
nn_depthwise_kind
nn_kind_of_wide_depthwise(const cmsis_nn_dw_conv_params *params,
                          const cmsis_nn_dims *filter);

/** Working memory of NN_CONVOLVE_ROWS. */
int32_t nn_bytes_of_rows(const cmsis_nn_conv_params *params,
                         const cmsis_nn_dims *in, const cmsis_nn_dims *filter,
                         const cmsis_nn_dims *out);

/** True if the library computes a convolution of int8 right, and safely. */
bool nn_can_convolve(const cmsis_nn_conv_params *params,
                     const cmsis_nn_dims *in, const cmsis_nn_dims *filter,
                     const cmsis_nn_dims *out);

/** The same for a depthwise one by a given function, of int8 or int16. */
bool nn_can_convolve_depthwise(nn_depthwise_kind kind,
                               const cmsis_nn_dw_conv_params *params,
                               const cmsis_nn_dims *in,
                               const cmsis_nn_dims *filter,
                               const cmsis_nn_dims *out, bool has_bias);

#endif /* CMSIS_NN_LIMITS_H */
