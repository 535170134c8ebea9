//===- Native.h - Passes written in C++ -------------------------*- C++ -*-===//

#ifndef PHL_CAPI_NATIVE_H
#define PHL_CAPI_NATIVE_H

#ifdef __cplusplus
namespace phl {
/// Registers `fuse-elementwise-ops`.
void registerFuseElementwiseOpsPass();
} // namespace phl
#endif

#endif // PHL_CAPI_NATIVE_H
