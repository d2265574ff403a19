#include "isa/exec/micro_op.h"

namespace gpusim::isa {

std::string_view op_class_name(OpClass c) {
  switch (c) {
    case OpClass::kInt:
      return "int";
    case OpClass::kInt64:
      return "int64";
    case OpClass::kIntMul24:
      return "int_mul24";
    case OpClass::kIntMul:
      return "int_mul";
    case OpClass::kIntMul64:
      return "int_mul64";
    case OpClass::kIntDivU32:
      return "int_div_u32";
    case OpClass::kIntDivS32:
      return "int_div_s32";
    case OpClass::kIntDiv64:
      return "int_div64";
    case OpClass::kBitCount:
      return "bit_count";
    case OpClass::kFp32:
      return "fp32";
    case OpClass::kFp32Mul:
      return "fp32_mul";
    case OpClass::kHalf:
      return "half";
    case OpClass::kFp32Div:
      return "fp32_div";
    case OpClass::kFp32DivRn:
      return "fp32_div_rn";
    case OpClass::kFp32SqrtRn:
      return "fp32_sqrt_rn";
    case OpClass::kFp32RcpRn:
      return "fp32_rcp_rn";
    case OpClass::kSfuRcp:
      return "sfu_rcp";
    case OpClass::kSfuRsqrt:
      return "sfu_rsqrt";
    case OpClass::kSfuSqrt:
      return "sfu_sqrt";
    case OpClass::kSfuSin:
      return "sfu_sin";
    case OpClass::kFp64:
      return "fp64";
    case OpClass::kFp64Div:
      return "fp64_div";
    case OpClass::kFp64Sqrt:
      return "fp64_sqrt";
    case OpClass::kCvt:
      return "cvt";
    case OpClass::kCvt64:
      return "cvt64";
    case OpClass::kSharedOperand:
      return "shared_operand";
    case OpClass::kWarp:
      return "warp";
    case OpClass::kMmaHalf:
      return "mma_half";
    case OpClass::kMmaInt8:
      return "mma_int8";
    case OpClass::kMmaFp64:
      return "mma_fp64";
    case OpClass::kSpecial:
      return "special";
    case OpClass::kLoadGlobal:
      return "load_global";
    case OpClass::kStoreGlobal:
      return "store_global";
    case OpClass::kAtomGlobal:
      return "atom_global";
    case OpClass::kLoadLocal:
      return "load_local";
    case OpClass::kStoreLocal:
      return "store_local";
    case OpClass::kLoadShared:
      return "load_shared";
    case OpClass::kStoreShared:
      return "store_shared";
    case OpClass::kAtomShared:
      return "atom_shared";
    case OpClass::kLoadConst:
      return "load_const";
    case OpClass::kLoadParam:
      return "load_param";
    case OpClass::kTexture:
      return "texture";
    case OpClass::kBranch:
      return "branch";
    case OpClass::kBarrier:
      return "barrier";
    case OpClass::kFence:
      return "fence";
    case OpClass::kExit:
      return "exit";
    case OpClass::kNop:
      return "nop";
    case OpClass::kCount:
      break;
  }
  return "";
}

}  // namespace gpusim::isa
