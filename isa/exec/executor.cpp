#include "isa/exec/executor.h"

namespace gpusim::isa {

std::string_view fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "no fault";
    case FaultKind::kOutOfBounds:
      return "access out of bounds";
    case FaultKind::kMisaligned:
      return "misaligned access";
    case FaultKind::kReadOnly:
      return "store to constant memory";
    case FaultKind::kNoTexture:
      return "not a texture";
    case FaultKind::kTextureShape:
      return "wrong texture geometry";
    case FaultKind::kSurface:
      return "outside of the surface";
    case FaultKind::kNoSurface:
      return "not a surface";
    case FaultKind::kMatrixPlace:
      return "the lanes of the warp give different matrices";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kAssert:
      return "failed assertion";
    case FaultKind::kBadFree:
      return "free() of an address that malloc() has not given";
    case FaultKind::kStack:
      return "stack overflow";
    case FaultKind::kAbsentBlock:
      return "shared memory of a block that does not run";
    case FaultKind::kRemote:
      return "operation that is not simulated on shared memory of another block";
    case FaultKind::kNoTensorMap:
      return "not a tensor map";
    case FaultKind::kTensorRank:
      return "wrong number of coordinates";
    case FaultKind::kTensorElement:
      return "reduction that the elements do not have";
    case FaultKind::kNoService:
      return "system call that is not carried out";
  }
  return "";
}

}  // namespace gpusim::isa
