#include "components/launch/kernel_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/exec/stack.h"
#include "isa/exec/texture.h"
#include "isa/lowering/launch_constants.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::comp {

void set_thread_indices(const KernelLaunch& run, uint64_t block, uint32_t warp_in_block,
                        isa::WarpContext& ctx) {
  const uint32_t first = warp_in_block * isa::kWarpSize;
  for (uint32_t lane = 0; lane < isa::kWarpSize; ++lane) {
    const uint32_t t = first + lane;
    ctx.tid[0][lane] = t % run.block.x;
    ctx.tid[1][lane] = t / run.block.x % run.block.y;
    ctx.tid[2][lane] = t / (run.block.x * run.block.y);
  }
  ctx.cluster = nullptr;
  ctx.cluster_rank = 0;
  for (uint32_t& size : ctx.cluster_nctaid) size = 1;
  for (uint32_t& place : ctx.cluster_ctaid) place = 0;
  ctx.explicit_cluster = false;
  set_block_index(run, block, ctx);
  ctx.ntid[0] = run.block.x, ctx.ntid[1] = run.block.y, ctx.ntid[2] = run.block.z;
  ctx.nctaid[0] = run.grid.x, ctx.nctaid[1] = run.grid.y, ctx.nctaid[2] = run.grid.z;
  ctx.warp_in_block = warp_in_block;
  ctx.warps_in_block = run.warps_per_block;
  ctx.grid_id = run.id;
  ctx.grid_workspace = run.grid_workspace;
  ctx.dynamic_shared_bytes = run.dynamic_shared;
  ctx.existing = isa::LaneMask::first(
      static_cast<int>(std::min<uint32_t>(isa::kWarpSize, run.threads_per_block - first)));
}

void set_block_index(const KernelLaunch& run, uint64_t block, isa::WarpContext& ctx) {
  const Dim3 index = run.block_index(block);
  ctx.ctaid[0] = index.x, ctx.ctaid[1] = index.y, ctx.ctaid[2] = index.z;
  if (!run.explicit_cluster) return;  // the context has the values of a block that is alone
  ctx.cluster_nctaid[0] = run.cluster.x, ctx.cluster_nctaid[1] = run.cluster.y;
  ctx.cluster_nctaid[2] = run.cluster.z;
  for (size_t d = 0; d < 3; ++d) ctx.cluster_ctaid[d] = ctx.ctaid[d] % ctx.cluster_nctaid[d];
  ctx.cluster_rank = run.rank_of(block);
  ctx.explicit_cluster = true;
}

uint64_t KernelLaunch::block_in_order(uint64_t order) const {
  const uint32_t size = cluster_blocks();
  if (size == 1) return order;
  const uint64_t number = order / size, rank = order % size;
  const uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  const uint64_t x = number % across * cluster.x + rank % cluster.x;
  const uint64_t y = number / across % down * cluster.y + rank / cluster.x % cluster.y;
  const uint64_t z = number / (across * down) * cluster.z + rank / (uint64_t{cluster.x} * cluster.y);
  return x + grid.x * (y + grid.y * z);
}

void bind_constant_memory(KernelLaunch& run, const isa::GlobalMemory& memory) {
  if (!run.literals.empty()) isa::bind_constant_memory(*run.image, memory, run.literals);
}

bool KernelLaunch::shares_sms_with(const KernelLaunch& other) const {
  if (part == nullptr || other.part == nullptr) return true;
  for (size_t n = 0; n < part->size(); ++n)
    if ((*part)[n] && (*other.part)[n]) return true;
  return false;
}

uint32_t KernelLaunch::rank_of(uint64_t linear) const {
  const Dim3 b = block_index(linear);
  return b.x % cluster.x + cluster.x * (b.y % cluster.y + cluster.y * (b.z % cluster.z));
}

StatementSource statement_source(const isa::KernelImage& image, const isa::PtxStatement& statement) {
  const auto line_of = [&image](uint32_t file, uint32_t line) {
    return line != 0 && file < image.source_files.size() ? core::SourceLine{image.source_files[file], line}
                                                         : core::SourceLine{};
  };
  StatementSource source;
  source.written = line_of(statement.source_file, statement.source_line);
  source.user = core::user_line(source.written, line_of(statement.inlined_file, statement.inlined_line));
  return source;
}

std::string describe_location(const KernelLaunch& run, uint32_t pc, uint64_t block, uint32_t warp_in_block,
                              int lane) {
  const Dim3 b = run.block_index(block);
  const uint32_t t = warp_in_block * isa::kWarpSize + static_cast<uint32_t>(lane);
  std::string where = "end of kernel";
  if (pc < run.image->ops.size()) {
    const isa::PtxStatement& s = run.image->ptx[run.image->ops[pc].ptx_index];
    where = fmt::format("PTX line {} `{}`", s.loc.line, s.text);
    if (!run.image->files.empty()) where = fmt::format("{}, {}", run.image->files[s.loc.file], where);
    const StatementSource source = statement_source(*run.image, s);
    if (source.user.line != 0) where += fmt::format(" ({})", core::source_place(source.user, source.written));
  }
  return fmt::format("kernel '{}', {}, block ({},{},{}), thread ({},{},{})", core::demangled(run.image->name),
                     where, b.x, b.y, b.z, t % run.block.x, t / run.block.x % run.block.y,
                     t / (run.block.x * run.block.y));
}

namespace {
std::string describe_texture(const isa::Texture& texture) {
  return fmt::format("the texture has {} dimension{}{}: another geometry is read", texture.dimensions,
                     texture.dimensions == 1 ? "" : "s", texture.array ? " and layers" : " and no layers");
}
}  // namespace

std::string describe_fault(const isa::MicroOp& op, const isa::MemoryAccess& access,
                           const isa::GlobalMemory& memory) {
  const uint32_t bytes = uint32_t{op.memory.element_bytes} * op.memory.elements;
  const std::string_view space =
      isa::space_name(access.space == isa::Space::kNone ? op.memory.space : access.space);
  switch (access.fault) {
    case isa::FaultKind::kOutOfBounds: {
      const bool device = op.memory.space == isa::Space::kGlobal || op.memory.space == isa::Space::kGeneric ||
                          op.memory.space == isa::Space::kConst;
      const std::string where = device ? memory.describe(access.fault_address) : std::string();
      return fmt::format("{}-byte access to {} memory at address {:#x} is out of bounds{}{}", bytes, space,
                         access.fault_address, where.empty() ? "" : ": ", where);
    }
    case isa::FaultKind::kMisaligned:
      return fmt::format("{}-byte access to {} memory at address {:#x} is misaligned",
                         std::max(bytes, op.memory.align_mask + 1u), space, access.fault_address);
    case isa::FaultKind::kReadOnly:
      return fmt::format("store to read-only {} memory at address {:#x}", space, access.fault_address);
    case isa::FaultKind::kNoTexture:
      return fmt::format(
          "{:#x} is not a texture of the launch file (of a program: it is not bound, or its memory was "
          "freed)",
          access.fault_address);
    case isa::FaultKind::kTextureShape:
      return describe_texture(*memory.texture(access.fault_address));
    case isa::FaultKind::kSurface:
      return fmt::format("byte {} of a row, or the row, is outside of the surface",
                         static_cast<int64_t>(access.fault_address));
    case isa::FaultKind::kNoSurface:
      return fmt::format("{:#x} is a texture that can only be read", access.fault_address);
    case isa::FaultKind::kMatrixPlace:
      return "the lanes of the warp give different addresses or strides of a matrix";
    case isa::FaultKind::kBadFree:
      return fmt::format("free() of {:#x}, which malloc() has not given or which is free already",
                         access.fault_address);
    case isa::FaultKind::kStack: {
      const isa::StackPlace stack = isa::StackPlace::unpacked(op.imm);
      return fmt::format("alloca of {} bytes does not fit the stack of {} bytes (cudaLimitStackSize)",
                         access.fault_address, stack.end() - stack.begin());
    }
    case isa::FaultKind::kAbsentBlock: {
      // The address is a generic one, or one of shared memory.
      const bool generic = access.fault_address >= isa::kClusterWindowBase;
      const uint64_t window = isa::kClusterWindowBase - (generic ? 0 : isa::kSharedWindowBase);
      return fmt::format(
          "{}-byte access to the shared memory of block {} of the cluster, which does not run: the cluster "
          "is smaller, or the block has not begun or has ended, which a barrier of the cluster before the "
          "first and behind the last access prevents",
          bytes, (access.fault_address - window) / isa::kClusterStride);
    }
    case isa::FaultKind::kRemote:
      return fmt::format(
          "this operation is simulated in the shared memory of its own block only, not at {:#x} of another "
          "block of the cluster",
          access.fault_address);
    case isa::FaultKind::kNoTensorMap:
      return fmt::format(
          "the 128 bytes at {:#x} are not a tensor map as cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col "
          "gave it: they were damaged, "
          "made by "
          "something else, or not copied there",
          access.fault_address);
    case isa::FaultKind::kTensorRank:
      return fmt::format(
          "the tensor of the map at {:#x} has not as many dimensions as there are coordinates, or its "
          "map is for the other mode (tile, im2col)",
          access.fault_address);
    case isa::FaultKind::kTensorElement:
      return fmt::format("elements of the tensor of the map at {:#x} do not have this reduction",
                         access.fault_address);
    case isa::FaultKind::kNoService:
      return "this program runs without the host's services: printf(), malloc() and free() are not there";
    case isa::FaultKind::kTrap:
    case isa::FaultKind::kAssert:
      return "trap";
    case isa::FaultKind::kNone:
      break;
  }
  return "no fault";
}

namespace {
/// A string of the program; what cannot be printed becomes '?'.
std::string text_at(uint64_t address, const isa::GlobalMemory& memory) {
  constexpr uint64_t kMost = 1000;
  const isa::MemoryWindow window = memory.window(address);
  std::string text;
  if (window.data == nullptr) return "?";
  for (uint64_t at = address; at < window.end && text.size() < kMost; ++at) {
    const char c = static_cast<char>(window.data[at - window.begin]);
    if (c == '\0') break;
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}
}  // namespace

std::string describe_trap(const isa::MicroOp& op, const isa::WarpContext& context, int lane,
                          const isa::GlobalMemory& memory) {
  if (trap_kind(op) == isa::FaultKind::kTrap) return "trap";
  const auto row = [&](size_t i) {
    return context.bank[static_cast<size_t>(op.src[i].bank)] + op.src[i].offset;
  };
  const auto text = [&](size_t i) {
    return text_at(reinterpret_cast<const uint64_t*>(row(i))[lane], memory);
  };
  const auto l = static_cast<size_t>(lane);
  return fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.",
                     text(isa::kAssertFile), reinterpret_cast<const uint32_t*>(row(isa::kAssertLine))[lane],
                     text(isa::kAssertFunction), context.ctaid[0], context.ctaid[1], context.ctaid[2],
                     context.tid[0][l], context.tid[1][l], context.tid[2][l], text(isa::kAssertCondition));
}

std::string describe_missing_lanes(isa::LaneMask present) {
  return fmt::format("the operation needs all 32 lanes of the warp, lanes {:#010x} are not there",
                     (~present).bits());
}

}  // namespace gpusim::comp
