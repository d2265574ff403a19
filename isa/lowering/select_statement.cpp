// Dispatch of a statement to the function that selects its family.
#include "isa/lowering/select.h"
#include "isa/ptx/verifier/verifier.h"

namespace gpusim::isa::lir {

void Selector::statement(Frame& frame, const Instruction& inst) {
  if (std::string reason = unsupported_reason(inst); !reason.empty())
    return error(inst.loc, std::move(reason));
  inst_ = &inst;
  counted_ = false;
  guard_ = inst.guard == kNoRegister || inst.guard >= frame.registers.size() ? kNoVar
                                                                             : frame.registers[inst.guard];
  guard_negated_ = inst.guard_negated;
  if (inst.no_unroll) program_.blocks[current_].no_unroll = true;
  switch (inst.opcode) {
    case Opcode::kMov:
      move(frame, inst);
      break;
    case Opcode::kSet:
    case Opcode::kSetp:
      compare(frame, inst);
      break;
    case Opcode::kSelp:
      select_predicate(frame, inst);
      break;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      inst.mods.type == Type::kPred ? predicate_logic(frame, inst) : alu(frame, inst);
      break;
    case Opcode::kAddc:
    case Opcode::kSubc:
    case Opcode::kMadc:
      carry_arithmetic(frame, inst);
      break;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMad:
      inst.mods.cc ? carry_arithmetic(frame, inst) : alu(frame, inst);
      break;
    case Opcode::kCvta:
      convert_address(frame, inst);
      break;
    case Opcode::kTestp:
    case Opcode::kIsspacep:
      test_value(frame, inst);
      break;
    case Opcode::kLop3:
      lookup(frame, inst);
      break;
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
      load_store(frame, inst);
      break;
    case Opcode::kAtom:
    case Opcode::kRed:
      atomic(frame, inst);
      break;
    case Opcode::kWmmaLoad:
    case Opcode::kWmmaStore:
      wmma_transfer(frame, inst);
      break;
    case Opcode::kWmmaMma:
      wmma_mma(frame, inst);
      break;
    case Opcode::kTex:
      texture_read(frame, inst);
      break;
    case Opcode::kTxq:
      texture_query(frame, inst);
      break;
    case Opcode::kVideo:
      video(frame, inst);
      break;
    case Opcode::kFenceProxy:  // and those that order accesses to the shared memory of a cluster
      emit_control(OpKind::kFence, OpClass::kFenceBlock);
      break;
    case Opcode::kMapa:
      cluster_address(frame, inst);
      break;
    case Opcode::kBarrierCluster:
      cluster_barrier(inst);
      break;
    case Opcode::kCpAsync:
      async_copy(frame, inst);
      break;
    case Opcode::kAsync:
      remote_store(frame, inst);
      break;
    case Opcode::kMultimem:
      multimem(frame, inst);
      break;
    case Opcode::kTensormap:
      tensor_map(frame, inst);
      break;
    case Opcode::kMbarrier:
      mbarrier(frame, inst);
      break;
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kMovmatrix:
      matrix_move(frame, inst);
      break;
    case Opcode::kMma:
      mma(frame, inst);
      break;
    case Opcode::kWgmma:
      wgmma(frame, inst);
      break;
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kSured:
      surface_access(frame, inst);
      break;
    case Opcode::kSuq:
      surface_query(frame, inst);
      break;
    case Opcode::kTld4:
      texture_gather(frame, inst);
      break;
    case Opcode::kVote:
      vote(frame, inst);
      break;
    case Opcode::kShfl:
      shuffle(frame, inst);
      break;
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
      match_or_redux(frame, inst);
      break;
    case Opcode::kElect:
      elect(frame, inst);
      break;
    case Opcode::kBar:
    case Opcode::kBarrier:
      barrier(frame, inst);
      break;
    case Opcode::kMembar:
    case Opcode::kFence:
      fence(inst);
      break;
    case Opcode::kNanosleep:
      sleep(frame, inst);
      break;
    case Opcode::kBra:
      branch(frame, inst);
      break;
    case Opcode::kBrx:
      branch_table(frame, inst);
      break;
    case Opcode::kRet:
    case Opcode::kExit:
      leave(frame, inst);
      break;
    case Opcode::kTrap:
    case Opcode::kBrkpt:
      emit_control(OpKind::kTrap, OpClass::kExit);
      break;
    case Opcode::kCall:
      call(frame, inst);
      break;
    case Opcode::kAlloca:
    case Opcode::kStacksave:
    case Opcode::kStackrestore:
      stack(frame, inst);
      break;
    // Hints without an effect on values; the machine model has no use for them yet.
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
    case Opcode::kPmevent:
    case Opcode::kDiscard:
    case Opcode::kApplypriority:
    case Opcode::kSetmaxnreg:
    case Opcode::kGriddepcontrol:  // no grid waits for another here
      emit_control(OpKind::kNop, OpClass::kNop);
      break;
    default:
      alu(frame, inst);
      break;
  }
}

}  // namespace gpusim::isa::lir
