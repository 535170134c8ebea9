/* Memories and transfers. A transfer happens when it is joined; until then its destination is garbage. */
#include "heddle_device.h"
#include <stdlib.h>

int heddle_open(heddle_device **out, int64_t spm, int64_t sums) {
  heddle_device *d = calloc(1, sizeof *d);
  if (!d) return NO_MEMORY;
  d->spm = malloc((size_t)spm);
  d->sums = malloc((size_t)sums);
  d->spm_bytes = (uint32_t)spm;
  d->sums_bytes = (uint32_t)sums;
  if (!d->spm || !d->sums) {
    heddle_close(d);
    return NO_MEMORY;
  }
  memset(d->spm, 0xff, (size_t)spm);
  memset(d->sums, 0xff, (size_t)sums);
  *out = d;
  return 0;
}

int heddle_close(heddle_device *d) {
  free(d->spm);
  free(d->sums);
  free(d);
  return 0;
}

const char *heddle_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory for the device";
  case BAD_CHANNEL: return "a channel is unknown or busy";
  case BAD_PLACE: return "a tile is not within its memory";
  case BAD_SIZE: return "a row is too long";
  default: return "unknown status";
  }
}

static float activate(float value, uint32_t act) {
  if (act >= 1 && value < 0.0f) value = 0.0f;
  if (act == 2 && value > 6.0f) value = 6.0f;
  return value;
}

/* Moves all elements of a transfer; `garble` writes what is no number instead. */
static void move(const transfer *t, bool garble) {
  const heddle_span *s = &t->span;
  for (uint32_t i = 0; i < s->count[0]; i++)
    for (uint32_t j = 0; j < s->count[1]; j++)
      for (uint32_t kl = 0; kl < s->count[2] * s->count[3]; kl++) {
        const uint32_t k = kl / s->count[3], l = kl % s->count[3];
        unsigned char *tile = t->tile + i * s->tile[0] + j * s->tile[1] + k * s->tile[2] + l * s->tile[3];
        unsigned char *host = t->host + i * s->host[0] + j * s->host[1] + k * s->host[2] + l * s->host[3];
        if (garble) memset(t->kind == 1 ? tile : host, 0xff, s->element);
        else if (t->kind == 1) memcpy(tile, host, s->element);
        else if (t->kind == 2) memcpy(host, tile, s->element);
        else {
          float value;
          memcpy(&value, tile, sizeof value);
          set_half(host, activate(value, t->act));
        }
      }
}

static int64_t extent(const heddle_span *s, uint32_t element) {
  int64_t last = element;
  for (int i = 0; i < 4; i++) last += (int64_t)(s->count[i] - 1) * s->tile[i];
  return last;
}

static int start(heddle_device *d, uint32_t channel, transfer t) {
  if (channel >= CHANNELS || d->transfers[channel].kind) return BAD_CHANNEL;
  d->transfers[channel] = t;
  move(&t, true);
  return 0;
}

int heddle_fetch(heddle_device *d, uint32_t tile, const void *host, const heddle_span *s, uint32_t channel) {
  if (!in_spm(d, tile, extent(s, s->element))) return BAD_PLACE;
  return start(d, channel, (transfer){*s, d->spm + tile, (unsigned char *)(uintptr_t)host, 1, 0});
}

int heddle_put(heddle_device *d, uint32_t tile, void *host, const heddle_span *s, uint32_t channel) {
  if (!in_spm(d, tile, extent(s, s->element))) return BAD_PLACE;
  return start(d, channel, (transfer){*s, d->spm + tile, host, 2, 0});
}

int heddle_drain(heddle_device *d, uint32_t tile, void *host, const heddle_span *s, uint32_t act, uint32_t channel) {
  if (!in_sums(d, tile, extent(s, 4))) return BAD_PLACE;
  return start(d, channel, (transfer){*s, d->sums + tile, host, 3, act});
}

int heddle_join(heddle_device *d, uint32_t channel) {
  if (channel >= CHANNELS) return BAD_CHANNEL;
  transfer *t = &d->transfers[channel];
  if (t->kind) move(t, false);
  t->kind = 0;
  return 0;
}
