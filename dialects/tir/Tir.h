//===- Tir.h - The tir dialect -----------------------------------*- C++
//-*-===//
//
// Types, attributes and operations of the dialect `tir`; see TirOps.td for what
// they mean.
//
//===----------------------------------------------------------------------===//

#ifndef PHL_TIR_H
#define PHL_TIR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tir/TirDialect.h.inc"
#include "tir/TirEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "tir/TirTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tir/TirAttrs.h.inc"

#define GET_OP_CLASSES
#include "tir/TirOps.h.inc"

namespace phl::tir {

/// Name of the discardable attribute that declares pools.
inline constexpr llvm::StringLiteral kPoolsAttrName = "tir.pools";

/// The state of a device beside the buffers that operations name: its DMA
/// channels, registers and counters.
struct DeviceResource
    : public mlir::SideEffects::Resource::Base<DeviceResource> {
  llvm::StringRef getName() final { return "Device"; }
};

/// True if `text` is a C identifier.
bool isCIdentifier(llvm::StringRef text);

/// True if `attr` is a number or `#tir.name` that C can write as it is.
bool isCLiteral(mlir::Attribute attr);

} // namespace phl::tir

#endif // PHL_TIR_H
