//===- Shared.cpp - What a program and its plugins share ------------------===//

#include "capi/Shared.h"

#include <atomic>

PhlThread *phlThread() {
  static thread_local PhlThread state = {0, 0, 0, false};
  return &state;
}

const void *phlShare(PhlShared place, const void *value) {
  static std::atomic<const void *> places[PHL_SHARED_ALLOCATOR + 1];
  const void *known = nullptr;
  if (places[place].compare_exchange_strong(known, value))
    return value;
  return known;
}
