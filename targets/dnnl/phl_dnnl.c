/*===- phl_dnnl.c - Devices and sites -----------------------------*- C -*-===*/

#ifdef __linux__
/* For dladdr and RTLD_NODELETE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#endif
#include "phl_dnnl_site.h"
#include <stdlib.h>
#include <string.h>

/** Alignment of converted constants and scratchpads: a cache line. */
#define ALIGNMENT 64

struct phl_dnnl {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  /** Open addressing; the capacity is a power of two or 0. */
  phl_dnnl_site **sites;
  size_t capacity, count;
  /** One for all sites, as they run one after the other. */
  void *scratch;
  size_t scratch_bytes;
};

#define TEXTS(doing)                                                           \
  {"success",                                                                  \
   "oneDNN: out of memory while " doing,                                       \
   "oneDNN: invalid arguments while " doing,                                   \
   "oneDNN: unimplemented while " doing,                                       \
   "oneDNN: iterator ends while " doing,                                       \
   "oneDNN: runtime error while " doing,                                       \
   "oneDNN: not required while " doing}

/** Statuses of oneDNN 2.x: dnnl_success to dnnl_not_required. */
#define STATUSES 7

static const char *const texts[PHL_DNNL_STEPS][STATUSES] = {
    TEXTS("opening the CPU engine"), TEXTS("describing a primitive"),
    TEXTS("creating a primitive"), TEXTS("converting constants"),
    TEXTS("executing a primitive")};

int phl_dnnl_fail(phl_dnnl_step step, dnnl_status_t status) {
  return status == dnnl_success ? 0 : (int)step * STATUSES + (int)status;
}

/** The library in the process is not one that the code was compiled for. */
#define OTHER_VERSION (PHL_DNNL_STEPS * STATUSES)

const char *phl_dnnl_status_string(int status) {
  if (status == OTHER_VERSION)
    return "oneDNN: the library is of another major version, or older, than "
           "the one that the model was compiled with";
  if (status < 0 || status >= PHL_DNNL_STEPS * STATUSES)
    return "oneDNN: a status that this version does not know";
  return texts[status / STATUSES][status % STATUSES];
}

/** Keeps oneDNN in the process. A program may unload the library of a network;
 * oneDNN would go with it and take along the code of OpenMP's threads, which
 * still wait for work. */
static void stay(void) {
#ifdef __linux__
  Dl_info info;
  void *function = NULL;
  dnnl_status_t (*const known)(dnnl_engine_t) = dnnl_engine_destroy;
  memcpy(&function, &known, sizeof function);
  if (dladdr(function, &info) && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NODELETE);
#endif
}

/** True if the library at run time fits the header. */
static int fits(void) {
  const dnnl_version_t *version = dnnl_version();
  return version->major == DNNL_VERSION_MAJOR &&
         version->minor >= DNNL_VERSION_MINOR;
}

int phl_dnnl_open(phl_dnnl **out_device) {
  *out_device = NULL;
  if (!fits())
    return OTHER_VERSION;
  stay();
  phl_dnnl *device = calloc(1, sizeof *device);
  if (!device)
    return phl_dnnl_fail(PHL_DNNL_OPEN, dnnl_out_of_memory);
  dnnl_status_t status = dnnl_engine_create(&device->engine, dnnl_cpu, 0);
  if (status == dnnl_success)
    status = dnnl_stream_create(&device->stream, device->engine,
                                dnnl_stream_default_flags);
  if (status != dnnl_success) {
    phl_dnnl_close(device);
    device = NULL;
  }
  *out_device = device;
  return phl_dnnl_fail(PHL_DNNL_OPEN, status);
}

static void destroy(phl_dnnl_site *site) {
  if (!site)
    return;
  dnnl_primitive_destroy(site->primitive);
  dnnl_primitive_desc_destroy(site->desc);
  for (int i = 0; i < site->arg_count; ++i)
    dnnl_memory_destroy(site->args[i].memory);
  for (int i = 0; i < site->owned_count; ++i)
    free(site->owned[i]);
  free(site);
}

int phl_dnnl_close(phl_dnnl *device) {
  if (!device)
    return 0;
  for (size_t i = 0; i < device->capacity; ++i)
    destroy(device->sites[i]);
  free(device->sites);
  free(device->scratch);
  dnnl_stream_destroy(device->stream);
  dnnl_engine_destroy(device->engine);
  free(device);
  return 0;
}

phl_dnnl_key phl_dnnl_key_of(phl_dnnl_kind kind) {
  phl_dnnl_key key = {.count = 0};
  phl_dnnl_key_int(&key, kind);
  return key;
}

void phl_dnnl_key_int(phl_dnnl_key *key, int64_t value) {
  /* The kinds of sites have fewer words; see PHL_DNNL_KEY_WORDS. */
  if (key->count < PHL_DNNL_KEY_WORDS)
    key->words[key->count++] = value;
}

void phl_dnnl_key_float(phl_dnnl_key *key, float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  phl_dnnl_key_int(key, bits);
}

void phl_dnnl_key_pointer(phl_dnnl_key *key, const void *value) {
  phl_dnnl_key_int(key, (int64_t)(intptr_t)value);
}

void phl_dnnl_key_ints(phl_dnnl_key *key, const int64_t *values,
                       int64_t count) {
  phl_dnnl_key_int(key, count);
  for (int64_t i = 0; i < count; ++i)
    phl_dnnl_key_int(key, values[i]);
}

static size_t hash(const phl_dnnl_key *key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < key->count; ++i) {
    hash = (hash ^ (uint64_t)key->words[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

static bool same(const phl_dnnl_key *a, const phl_dnnl_key *b) {
  return a->count == b->count &&
         !memcmp(a->words, b->words, (size_t)a->count * sizeof a->words[0]);
}

/** The slot of a key: its site's, or the empty one where it would go. */
static phl_dnnl_site **slot(phl_dnnl_site **sites, size_t capacity,
                            const phl_dnnl_key *key) {
  size_t place = hash(key) & (capacity - 1);
  while (sites[place] && !same(&sites[place]->key, key))
    place = (place + 1) & (capacity - 1);
  return &sites[place];
}

/** Makes room for one more site: the table is at most half full. */
static bool grow(phl_dnnl *device) {
  if (2 * (device->count + 1) <= device->capacity)
    return true;
  size_t capacity = device->capacity ? 2 * device->capacity : 64;
  phl_dnnl_site **sites = calloc(capacity, sizeof *sites);
  if (!sites)
    return false;
  for (size_t i = 0; i < device->capacity; ++i)
    if (device->sites[i])
      *slot(sites, capacity, &device->sites[i]->key) = device->sites[i];
  free(device->sites);
  device->sites = sites;
  device->capacity = capacity;
  return true;
}

int phl_dnnl_describe(phl_dnnl *device, phl_dnnl_site *site,
                      const_dnnl_op_desc_t op, dnnl_primitive_attr_t attr) {
  dnnl_status_t status =
      dnnl_primitive_desc_create(&site->desc, op, attr, device->engine, NULL);
  dnnl_primitive_attr_destroy(attr);
  return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
}

const dnnl_memory_desc_t *phl_dnnl_wanted(const phl_dnnl_site *site, int arg) {
  return dnnl_primitive_desc_query_md(site->desc, dnnl_query_exec_arg_md, arg);
}

/** Adds an argument with this memory, null for none yet. */
static int add(phl_dnnl *device, phl_dnnl_site *site, int arg,
               const dnnl_memory_desc_t *desc, void *data) {
  dnnl_memory_t memory;
  dnnl_status_t status = dnnl_invalid_arguments;
  if (site->arg_count < PHL_DNNL_MAX_ARGS)
    status = dnnl_memory_create(&memory, desc, device->engine, data);
  if (status == dnnl_success)
    site->args[site->arg_count++] = (dnnl_exec_arg_t){arg, memory};
  return phl_dnnl_fail(PHL_DNNL_CREATE, status);
}

int phl_dnnl_moving(phl_dnnl *device, phl_dnnl_site *site, int arg,
                    const dnnl_memory_desc_t *desc) {
  return add(device, site, arg, desc, DNNL_MEMORY_NONE);
}

/** Memory in whole cache lines. */
static void *allocate(size_t bytes) {
  return aligned_alloc(ALIGNMENT,
                       (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void *phl_dnnl_own(phl_dnnl_site *site, size_t bytes) {
  void *memory = site->owned_count < PHL_DNNL_MAX_ARGS ? allocate(bytes) : NULL;
  if (memory)
    site->owned[site->owned_count++] = memory;
  return memory;
}

/** Copies between the formats of two memories. */
static dnnl_status_t convert(phl_dnnl *device, dnnl_memory_t from,
                             const dnnl_memory_desc_t *given, dnnl_memory_t to,
                             const dnnl_memory_desc_t *wanted) {
  dnnl_primitive_desc_t desc = NULL;
  dnnl_primitive_t primitive = NULL;
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(
      &desc, given, device->engine, wanted, device->engine, NULL);
  if (status == dnnl_success)
    status = dnnl_primitive_create(&primitive, desc);
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  if (status == dnnl_success)
    status = dnnl_primitive_execute(primitive, device->stream, 2, args);
  if (status == dnnl_success)
    status = dnnl_stream_wait(device->stream);
  dnnl_primitive_destroy(primitive);
  dnnl_primitive_desc_destroy(desc);
  return status;
}

int phl_dnnl_constant(phl_dnnl *device, phl_dnnl_site *site, int arg,
                      const float *data, const dnnl_memory_desc_t *given,
                      const dnnl_memory_desc_t *wanted) {
  /* oneDNN's memories are not const; primitives only read these. */
  if (dnnl_memory_desc_equal(given, wanted))
    return add(device, site, arg, wanted, (void *)(uintptr_t)data);
  void *copy = phl_dnnl_own(site, dnnl_memory_desc_get_size(wanted));
  if (!copy)
    return phl_dnnl_fail(PHL_DNNL_CONVERT, dnnl_out_of_memory);
  int failed = add(device, site, arg, wanted, copy);
  if (failed)
    return failed;
  dnnl_memory_t from = NULL;
  dnnl_status_t status =
      dnnl_memory_create(&from, given, device->engine, (void *)(uintptr_t)data);
  if (status == dnnl_success)
    status = convert(device, from, given,
                     site->args[site->arg_count - 1].memory, wanted);
  dnnl_memory_destroy(from);
  return phl_dnnl_fail(PHL_DNNL_CONVERT, status);
}

/** Adds the scratchpad, and makes the device's large enough. */
static int add_scratch(phl_dnnl *device, phl_dnnl_site *site) {
  const dnnl_memory_desc_t *desc = phl_dnnl_wanted(site, DNNL_ARG_SCRATCHPAD);
  size_t bytes = desc ? dnnl_memory_desc_get_size(desc) : 0;
  if (!bytes)
    return 0;
  if (bytes > device->scratch_bytes) {
    void *larger = allocate(bytes);
    if (!larger)
      return phl_dnnl_fail(PHL_DNNL_CREATE, dnnl_out_of_memory);
    free(device->scratch);
    device->scratch = larger;
    device->scratch_bytes = bytes;
  }
  site->scratch = site->arg_count;
  return add(device, site, DNNL_ARG_SCRATCHPAD, desc, DNNL_MEMORY_NONE);
}

int phl_dnnl_create(phl_dnnl *device, phl_dnnl_site *site) {
  int failed = add_scratch(device, site);
  if (failed)
    return failed;
  return phl_dnnl_fail(PHL_DNNL_CREATE,
                       dnnl_primitive_create(&site->primitive, site->desc));
}

static int run(phl_dnnl *device, const phl_dnnl_site *site,
               const void *const *addresses, int count) {
  dnnl_status_t status = dnnl_success;
  for (int i = 0; i < count && status == dnnl_success; ++i)
    status = dnnl_memory_set_data_handle(site->args[i].memory,
                                         (void *)(uintptr_t)addresses[i]);
  if (status == dnnl_success && site->scratch >= 0)
    status = dnnl_memory_set_data_handle(site->args[site->scratch].memory,
                                         device->scratch);
  if (status == dnnl_success)
    status = dnnl_primitive_execute(site->primitive, device->stream,
                                    site->arg_count, site->args);
  if (status == dnnl_success)
    status = dnnl_stream_wait(device->stream);
  return phl_dnnl_fail(PHL_DNNL_EXECUTE, status);
}

/** Makes a site and puts it in the table. */
static int make(phl_dnnl *device, const phl_dnnl_key *key,
                phl_dnnl_build *build, const void *context) {
  phl_dnnl_site *site = calloc(1, sizeof *site);
  if (!site || !grow(device)) {
    free(site);
    return phl_dnnl_fail(PHL_DNNL_CREATE, dnnl_out_of_memory);
  }
  site->key = *key;
  site->scratch = -1;
  int failed = build(device, site, context);
  if (failed) {
    destroy(site);
    return failed;
  }
  *slot(device->sites, device->capacity, key) = site;
  ++device->count;
  return 0;
}

int phl_dnnl_call(phl_dnnl *device, const phl_dnnl_key *key,
                  phl_dnnl_build *build, const void *context,
                  const void *const *addresses, int count) {
  phl_dnnl_site *site =
      device->capacity ? *slot(device->sites, device->capacity, key) : NULL;
  if (!site) {
    int failed = make(device, key, build, context);
    if (failed)
      return failed;
    site = *slot(device->sites, device->capacity, key);
  }
  return run(device, site, addresses, count);
}
