//===- ConversionScf.cpp - Conversion of types of loops -------------------===//
//
// Programs that convert no loops do not link this.
//
//===----------------------------------------------------------------------===//

#include "capi/Conversion.h"

#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

void phlConversionAddStructure(MlirRewritePatternSet patterns,
                               PhlConversionTarget target,
                               PhlTypeConverter converter) {
  scf::populateSCFStructuralTypeConversionsAndLegality(
      *static_cast<TypeConverter *>(converter.ptr), *unwrap(patterns),
      *static_cast<ConversionTarget *>(target.ptr));
}
