/*===- runtime.h - What compiled models and their callers share ---*- C -*-===
 *
 * Status codes, tensor views and a thread pool. There is no global state, and
 * nothing is allocated but by phl_pool_create. Every function that can fail
 * returns a phl_status as int, PHL_OK (0) on success; one that fails has no
 * effect. Results come last and are named out_*.
 *
 * Memory. The caller owns all tensors and arenas; nothing here keeps a pointer
 * to them after it returned. Arenas and the data of tensors that compiled
 * models take are aligned to PHL_ALIGNMENT bytes.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PHASELINE_RUNTIME_H
#define PHASELINE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that arenas and the data of tensors are aligned to. */
#define PHL_ALIGNMENT 64u

/*===-------------------------------- Status
 * -------------------------------===*/

typedef enum phl_status {
  PHL_OK = 0,
  /** A null pointer, or a value out of its range. */
  PHL_ERR_ARGUMENT = 1,
  /** Memory could not be allocated. */
  PHL_ERR_MEMORY = 2,
  /** A tensor has another rank or other sizes than asked for. */
  PHL_ERR_SHAPE = 3,
  /** A tensor has another element type than asked for. */
  PHL_ERR_DTYPE = 4,
  /** An address is not aligned as asked for. */
  PHL_ERR_ALIGNMENT = 5,
  /** A tensor is not contiguous in row-major order. */
  PHL_ERR_LAYOUT = 6,
  /** A tensor is not in the memory of the CPU. */
  PHL_ERR_DEVICE = 7,
  /** A size does not fit 64 bits. */
  PHL_ERR_OVERFLOW = 8,
  /** The system refused a thread, a lock, or the registers of AMX. */
  PHL_ERR_SYSTEM = 9
} phl_status;

/** A sentence for `status`, never null; the text is static. */
const char *phl_status_string(int status);

/*===------------------------------- Tensors
 * -------------------------------===*/

/** Element types, with DLPack's codes. */
typedef enum phl_dtype_code {
  PHL_INT = 0,
  PHL_UINT = 1,
  PHL_FLOAT = 2,
  PHL_BFLOAT = 4,
  PHL_COMPLEX = 5,
  PHL_BOOL = 6
} phl_dtype_code;

/** Same memory layout as DLDataType. */
typedef struct phl_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} phl_dtype;

/** Same memory layout as DLDevice; the CPU has type PHL_CPU. */
typedef struct phl_device {
  int32_t type;
  int32_t id;
} phl_device;

#define PHL_CPU 1

/** A view of a tensor with the memory layout of DLTensor, so that a DLPack
 * capsule's tensor can be passed as it is. Whoever made it owns `data`, `shape`
 * and `strides`. Strides are in elements; null means contiguous, row-major. */
typedef struct phl_tensor {
  void *data;
  phl_device device;
  int32_t ndim;
  phl_dtype dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} phl_tensor;

/** The type with `code` and `bits`, one lane. */
static inline phl_dtype phl_dtype_of(phl_dtype_code code, uint8_t bits) {
  const phl_dtype dtype = {(uint8_t)code, bits, 1};
  return dtype;
}

/** A contiguous view on the CPU of `data` and `shape`, which the view borrows.
 */
static inline phl_tensor phl_tensor_of(void *data, phl_dtype dtype,
                                       int64_t *shape, int32_t ndim) {
  const phl_tensor tensor = {data, {PHL_CPU, 0}, ndim, dtype, shape, NULL, 0};
  return tensor;
}

/** The address of the first element. */
static inline void *phl_tensor_data(const phl_tensor *tensor) {
  return (char *)tensor->data + tensor->byte_offset;
}

/** Number of elements. Fails with ARGUMENT for negative sizes, OVERFLOW. */
int phl_tensor_count(const phl_tensor *tensor, int64_t *out_count);

/** Bytes of the elements, each rounded up to whole bytes.
 * Fails with ARGUMENT, OVERFLOW. */
int phl_tensor_bytes(const phl_tensor *tensor, int64_t *out_bytes);

/** True if the elements follow each other in row-major order. */
bool phl_tensor_is_contiguous(const phl_tensor *tensor);

/** Checks that a compiled model can take `tensor`: on the CPU, with type
 * `dtype`, contiguous, aligned to `alignment` bytes (a power of two), of rank
 * `ndim` and sizes `shape`, where a negative size allows any. A tensor without
 * elements may have null data.
 * Fails with ARGUMENT, DEVICE, DTYPE, SHAPE, LAYOUT, ALIGNMENT. */
int phl_tensor_check(const phl_tensor *tensor, phl_dtype dtype, int32_t ndim,
                     const int64_t *shape, size_t alignment);

/*===----------------------------- Thread pool
 * -----------------------------===*/

/** Threads that run loops. Made by phl_pool_create, owned by the caller until
 * phl_pool_destroy. Null stands for no threads: loops run in the caller. The
 * first word of a pool is the address of phl_pool_parallel_for: compiled models
 * call it there, so that they need not be linked with this runtime. */
typedef struct phl_pool phl_pool;

/** A part of a loop: iterations [begin, end). */
typedef void (*phl_loop_fn)(void *context, int64_t begin, int64_t end);

/** Makes a pool that runs loops on `threads` threads, the caller's being one of
 * them, so it starts `threads - 1`. Allocates. Without thread support (built
 * with PHL_NO_THREADS) every loop runs in the caller.
 * Fails with ARGUMENT unless 1 <= threads <= 1024, MEMORY, SYSTEM. */
int phl_pool_create(int32_t threads, phl_pool **out_pool);

/** Ends the threads and frees the pool; null is allowed. No loop may be
 * running on it. */
void phl_pool_destroy(phl_pool *pool);

/** Threads that a loop on `pool` can use; 1 for null. */
int32_t phl_pool_threads(const phl_pool *pool);

/** Calls `fn` for parts of [0, n) that together are each iteration once, and
 * returns when all are done. Parts other than the last have at least `grain`
 * iterations. Memory written in the loop is visible after it.
 * Any thread may call this. While a loop runs on the pool another one on it,
 * nested or from another thread, runs in its caller only. Does not allocate.
 * Fails with ARGUMENT if fn is null, n is negative or grain is below 1. */
int phl_pool_parallel_for(phl_pool *pool, phl_loop_fn fn, void *context,
                          int64_t n, int64_t grain);

#ifdef __cplusplus
}
#endif

#endif /* PHASELINE_RUNTIME_H */
