/*===- phl_dnnl_post.c - Activations and sums in primitives -------*- C -*-===*/

#include "phl_dnnl_site.h"
#include <math.h>

void phl_dnnl_key_act(phl_dnnl_key *key, const phl_dnnl_act *act,
                      const float *lo, const float *hi) {
  const bool flags[] = {
      act->relu,      act->sigmoid,    act->tanh,  act->gelu_erf,
      act->gelu_tanh, act->mish,       act->clip,  act->hard_swish,
      act->swish,     act->leaky_relu, act->elu,   act->abs,
      act->sqrt,      act->exp,        act->round, act->hard_sigmoid};
  int64_t bits = 0;
  for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; ++i)
    bits |= (int64_t)flags[i] << i;
  phl_dnnl_key_int(key, bits);
  phl_dnnl_key_float(key, act->swish_alpha);
  phl_dnnl_key_float(key, act->leaky_alpha);
  phl_dnnl_key_float(key, act->elu_alpha);
  phl_dnnl_key_float(key, act->hard_alpha);
  phl_dnnl_key_float(key, act->hard_beta);
  phl_dnnl_key_pointer(key, lo);
  phl_dnnl_key_pointer(key, hi);
}

bool phl_dnnl_algorithm(const phl_dnnl_act *act, const float *lo,
                        const float *hi, dnnl_alg_kind_t *out_kind,
                        float *out_alpha, float *out_beta) {
  /* NaN is no bound. oneDNN refuses bounds in the wrong order; then all is the
   * upper one. */
  const float most = hi && !isnan(*hi) ? *hi : INFINITY;
  const float low = lo && !isnan(*lo) ? *lo : -INFINITY;
  const float least = low < most ? low : most;
  const struct {
    bool flag;
    dnnl_alg_kind_t kind;
    float alpha, beta;
  } table[] = {
      {act->relu, dnnl_eltwise_relu, 0, 0},
      {act->leaky_relu, dnnl_eltwise_relu, act->leaky_alpha, 0},
      {act->clip, dnnl_eltwise_clip, least, most},
      {act->sigmoid, dnnl_eltwise_logistic, 0, 0},
      {act->tanh, dnnl_eltwise_tanh, 0, 0},
      {act->gelu_erf, dnnl_eltwise_gelu_erf, 0, 0},
      {act->gelu_tanh, dnnl_eltwise_gelu_tanh, 0, 0},
      {act->swish, dnnl_eltwise_swish,
       act->swish_alpha != 0 ? act->swish_alpha : 1, 0},
      {act->hard_swish, dnnl_eltwise_hardswish, 0, 0},
      {act->mish, dnnl_eltwise_mish, 0, 0},
      {act->elu, dnnl_eltwise_elu, act->elu_alpha, 0},
      {act->hard_sigmoid, dnnl_eltwise_linear, act->hard_alpha, act->hard_beta},
      {act->abs, dnnl_eltwise_abs, 0, 0},
      {act->sqrt, dnnl_eltwise_sqrt, 0, 0},
      {act->exp, dnnl_eltwise_exp, 0, 0},
      {act->round, dnnl_eltwise_round, 0, 0},
  };
  for (unsigned i = 0; i < sizeof table / sizeof table[0]; ++i)
    if (table[i].flag) {
      *out_kind = table[i].kind;
      *out_alpha = table[i].alpha;
      *out_beta = table[i].beta;
      return true;
    }
  return false;
}

int phl_dnnl_addend(int index) {
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
}

static dnnl_status_t append_act(dnnl_post_ops_t ops,
                                const phl_dnnl_post *post) {
  dnnl_alg_kind_t kind;
  float alpha, beta;
  if (!phl_dnnl_algorithm(post->act, post->lo, post->hi, &kind, &alpha, &beta))
    return dnnl_success;
  dnnl_status_t status =
      dnnl_post_ops_append_eltwise(ops, 1, kind, alpha, beta);
  if (status == dnnl_success && post->act->hard_sigmoid)
    status = dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_clip, 0, 1);
  return status;
}

static dnnl_status_t append(dnnl_post_ops_t ops, const phl_dnnl_post *post) {
  dnnl_status_t status = dnnl_success;
  for (int i = 0; i < post->addend_count && status == dnnl_success; ++i)
    status =
        dnnl_post_ops_append_binary(ops, dnnl_binary_add, post->addends[i]);
  if (status == dnnl_success && post->sum)
    status = dnnl_post_ops_append_sum(ops, 1);
  if (status == dnnl_success && post->act)
    status = append_act(ops, post);
  return status;
}

int phl_dnnl_attributes(dnnl_primitive_attr_t *out_attr,
                        const phl_dnnl_post *post) {
  dnnl_primitive_attr_t attr = NULL;
  dnnl_post_ops_t ops = NULL;
  dnnl_status_t status = dnnl_primitive_attr_create(&attr);
  if (status == dnnl_success)
    status = dnnl_primitive_attr_set_scratchpad_mode(attr,
                                                     dnnl_scratchpad_mode_user);
  /* A post-op would do as well, but with a second linear function behind it
   * (that of hard_sigmoid) oneDNN 2.6's matmul computes something else. */
  if (status == dnnl_success && post->alpha != 0 && post->alpha != 1)
    status = dnnl_primitive_attr_set_output_scales(attr, 1, 0, &post->alpha);
  if (status == dnnl_success)
    status = dnnl_post_ops_create(&ops);
  if (status == dnnl_success)
    status = append(ops, post);
  if (status == dnnl_success)
    status = dnnl_primitive_attr_set_post_ops(attr, ops);
  dnnl_post_ops_destroy(ops);
  if (status != dnnl_success) {
    dnnl_primitive_attr_destroy(attr);
    attr = NULL;
  }
  *out_attr = attr;
  return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
}
