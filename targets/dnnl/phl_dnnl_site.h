/*===- phl_dnnl_site.h - What the parts of the shim share ---------*- C -*-===*/

#ifndef PHL_DNNL_SITE_H
#define PHL_DNNL_SITE_H

#include "phl_dnnl.h"
#include <dnnl.h>
#include <stddef.h>

#define PHL_DNNL_KEY_WORDS 72
#define PHL_DNNL_MAX_ARGS 12

/** Step in the life of a primitive that failed. */
typedef enum phl_dnnl_step {
  PHL_DNNL_OPEN,
  PHL_DNNL_DESCRIBE,
  PHL_DNNL_CREATE,
  PHL_DNNL_CONVERT,
  PHL_DNNL_EXECUTE,
  PHL_DNNL_STEPS
} phl_dnnl_step;

/** The status for oneDNN's `status` in `step`; 0 if that is success. */
int phl_dnnl_fail(phl_dnnl_step step, dnnl_status_t status);

/** Functions that make primitives. */
typedef enum phl_dnnl_kind {
  PHL_DNNL_CONV,
  PHL_DNNL_DECONV,
  PHL_DNNL_MATMUL,
  PHL_DNNL_POOL,
  PHL_DNNL_NORM,
  PHL_DNNL_SOFTMAX,
  PHL_DNNL_BINARY,
  PHL_DNNL_ELTWISE
} phl_dnnl_kind;

/** Key of a primitive: its kind and description as words. */
typedef struct phl_dnnl_key {
  int64_t words[PHL_DNNL_KEY_WORDS];
  int count;
} phl_dnnl_key;

phl_dnnl_key phl_dnnl_key_of(phl_dnnl_kind kind);
void phl_dnnl_key_int(phl_dnnl_key *key, int64_t value);
void phl_dnnl_key_float(phl_dnnl_key *key, float value);
void phl_dnnl_key_pointer(phl_dnnl_key *key, const void *value);
void phl_dnnl_key_ints(phl_dnnl_key *key, const int64_t *values, int64_t count);
void phl_dnnl_key_act(phl_dnnl_key *key, const phl_dnnl_act *act,
                      const float *lo, const float *hi);

/** A primitive with its arguments. Arguments whose memory moves from call to
 * call come first, in the order in which phl_dnnl_call gets their addresses. */
typedef struct phl_dnnl_site {
  phl_dnnl_key key;
  dnnl_primitive_t primitive;
  dnnl_primitive_desc_t desc;
  dnnl_exec_arg_t args[PHL_DNNL_MAX_ARGS];
  int arg_count;
  /** Place of the scratchpad among the arguments; -1 if there is none. */
  int scratch;
  /** Converted constants. */
  void *owned[PHL_DNNL_MAX_ARGS];
  int owned_count;
} phl_dnnl_site;

/** Makes the primitive and the arguments of an empty site. */
typedef int phl_dnnl_build(phl_dnnl *device, phl_dnnl_site *site,
                           const void *context);

/** Runs the site of a key with these addresses of its moving arguments. If
 * there is none yet, `build` makes it from `context`. */
int phl_dnnl_call(phl_dnnl *device, const phl_dnnl_key *key,
                  phl_dnnl_build *build, const void *context,
                  const void *const *addresses, int count);

/** Makes the primitive descriptor. Destroys `attr`, which may be null. */
int phl_dnnl_describe(phl_dnnl *device, phl_dnnl_site *site,
                      const_dnnl_op_desc_t op, dnnl_primitive_attr_t attr);

/** Makes the primitive, after all arguments were added. */
int phl_dnnl_create(phl_dnnl *device, phl_dnnl_site *site);

/** Memory for `bytes` of converted data, which the site frees; null if there is
 * none. */
void *phl_dnnl_own(phl_dnnl_site *site, size_t bytes);

/** The memory descriptor that the primitive wants for an argument. */
const dnnl_memory_desc_t *phl_dnnl_wanted(const phl_dnnl_site *site, int arg);

/** Adds an argument of which phl_dnnl_call gets the address. */
int phl_dnnl_moving(phl_dnnl *device, phl_dnnl_site *site, int arg,
                    const dnnl_memory_desc_t *desc);

/** Adds a constant argument: the data itself if its format is the wanted one,
 * else a converted copy. */
int phl_dnnl_constant(phl_dnnl *device, phl_dnnl_site *site, int arg,
                      const float *data, const dnnl_memory_desc_t *given,
                      const dnnl_memory_desc_t *wanted);

/** Post-ops of a primitive, in this order. */
typedef struct phl_dnnl_post {
  /** Factor of the result; 0 counts as 1. */
  float alpha;
  /** Tensors that are added. */
  const dnnl_memory_desc_t *addends[2];
  int addend_count;
  /** The old contents of the result's memory are added. */
  bool sum;
  /** Activation with its limits; null for none. */
  const phl_dnnl_act *act;
  const float *lo, *hi;
} phl_dnnl_post;

/** Makes attributes with post-ops, and with scratchpads from the device. */
int phl_dnnl_attributes(dnnl_primitive_attr_t *out_attr,
                        const phl_dnnl_post *post);

/** oneDNN's algorithm for an activation with its parameters; false if there is
 * none. hard_sigmoid counts as its first half, the linear function. */
bool phl_dnnl_algorithm(const phl_dnnl_act *act, const float *lo,
                        const float *hi, dnnl_alg_kind_t *out_kind,
                        float *out_alpha, float *out_beta);

/** Number of the argument that is the addend of post-op `index`. */
int phl_dnnl_addend(int index);

#endif /* PHL_DNNL_SITE_H */
