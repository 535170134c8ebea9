//===- Phl.cpp - The dialect of Phaseline's own attributes ----------------===//

#include "phl/Phl.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace phl;

MLIR_DEFINE_EXPLICIT_TYPE_ID(phl::PhlDialect)

namespace {

enum class Kind {
  Unit,
  String,
  Strings,
  Integer,
  Integers,
  Elements,
  Dictionary,
  Array,
};

enum class Place { Module, Function, Operation, Argument };

struct Known {
  StringRef name;
  Kind kind;
  Place place;
};

} // namespace

static constexpr Known kKnown[] = {
#define PHL_ATTRIBUTE(name, kind, place, description)                          \
  {#name, Kind::kind, Place::place},
#include "phl/Attributes.def"
#undef PHL_ATTRIBUTE
};

static bool isOfKind(Attribute value, Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return isa<UnitAttr>(value);
  case Kind::String:
    return isa<StringAttr>(value);
  case Kind::Strings: {
    auto array = dyn_cast<ArrayAttr>(value);
    return array && llvm::all_of(array, llvm::IsaPred<StringAttr>);
  }
  case Kind::Integer:
    return isa<IntegerAttr>(value);
  case Kind::Integers:
    return isa<DenseI64ArrayAttr>(value);
  case Kind::Elements:
    return isa<ElementsAttr>(value);
  case Kind::Dictionary:
    return isa<DictionaryAttr>(value);
  case Kind::Array:
    return isa<ArrayAttr>(value);
  }
  return false;
}

static StringRef describe(Kind kind) {
  switch (kind) {
  case Kind::Unit:
    return "a unit attribute";
  case Kind::String:
    return "a string";
  case Kind::Strings:
    return "an array of strings";
  case Kind::Integer:
    return "an integer";
  case Kind::Integers:
    return "an array of i64";
  case Kind::Elements:
    return "the elements of a tensor";
  case Kind::Dictionary:
    return "a dictionary";
  case Kind::Array:
    return "an array";
  }
  return "";
}

static StringRef describe(Place place) {
  switch (place) {
  case Place::Module:
    return "a module";
  case Place::Function:
    return "a function";
  case Place::Operation:
    return "an operation";
  case Place::Argument:
    return "an argument or result of a function";
  }
  return "";
}

/// The entry of the table; null, after an error with the nearest name, if there
/// is none.
static const Known *find(Operation *op, StringRef whole) {
  StringRef name = whole;
  name.consume_front("phl.");
  const Known *nearest = nullptr;
  unsigned least = 3;
  for (const Known &known : kKnown) {
    if (known.name == name)
      return &known;
    unsigned distance = name.edit_distance(known.name);
    if (distance < least) {
      least = distance;
      nearest = &known;
    }
  }
  InFlightDiagnostic error = op->emitError()
                             << "unknown attribute '" << whole << "'";
  if (nearest)
    error << "; did you mean 'phl." << nearest->name << "'?";
  return nullptr;
}

static LogicalResult verify(Operation *op, NamedAttribute attr, bool fits,
                            const Known &known) {
  if (!fits)
    return op->emitError() << "'" << attr.getName().getValue()
                           << "' belongs on " << describe(known.place);
  if (!isOfKind(attr.getValue(), known.kind))
    return op->emitError() << "'" << attr.getName().getValue() << "' must be "
                           << describe(known.kind) << ", not "
                           << attr.getValue();
  return success();
}

static LogicalResult verifyOfArgument(Operation *op, NamedAttribute attr) {
  const Known *known = find(op, attr.getName().getValue());
  if (!known)
    return failure();
  return verify(op, attr, known->place == Place::Argument, *known);
}

PhlDialect::PhlDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<PhlDialect>()) {}

LogicalResult PhlDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  const Known *known = find(op, attr.getName().getValue());
  if (!known)
    return failure();
  bool fits = known->place == Place::Operation ||
              (known->place == Place::Module && isa<ModuleOp>(op)) ||
              (known->place == Place::Function && isa<FunctionOpInterface>(op));
  return verify(op, attr, fits, *known);
}

LogicalResult PhlDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attr) {
  return verifyOfArgument(op, attr);
}

LogicalResult PhlDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned,
                                                      NamedAttribute attr) {
  return verifyOfArgument(op, attr);
}
