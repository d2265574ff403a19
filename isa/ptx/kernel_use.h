// What a kernel does with its parameters and with the module's variables, as far as its text shows: which
// hold addresses and what lies there, which are textures. A guess for people to check (`gpusim init`);
// nothing is executed.
#pragma once
#include <vector>

#include "isa/ptx/module.h"

namespace gpusim::isa {

/// Of a parameter's value, a variable's address, or a pointer variable's value.
struct PointerUse {
  enum class Kind : uint8_t { kNumber, kAddress, kTexture };
  Kind kind = Kind::kNumber;
  Type element = Type::kNone;  ///< of the first access; kNone: none was seen. Of a texture: what a read gives
  uint8_t vector = 1;          ///< most elements that an access takes
  TextureShape shape = TextureShape::kNone;
  Type coordinate = Type::kNone;  ///< of a texture
};

struct KernelUse {
  std::vector<PointerUse> params;     ///< as Function::params
  std::vector<PointerUse> variables;  ///< as Module::variables
  std::vector<PointerUse> contents;   ///< use of the pointer that such a variable holds first
  int dimensions = 1;                 ///< of thread and block numbers that it reads
  int grid_dimensions = 1;            ///< of block numbers alone
  bool dynamic_shared = false;        ///< it names an unsized .shared array
};

/// Functions that the kernel calls are looked into.
[[nodiscard]] KernelUse use_of(const Module& module, const Function& kernel);

}  // namespace gpusim::isa
