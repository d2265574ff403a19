#include "components/sm/register_banks.h"

#include <algorithm>

namespace gpusim::comp {

std::vector<uint8_t> register_bank_delays(const isa::KernelImage& image, uint32_t banks, uint32_t reads) {
  std::vector<uint8_t> delays;
  delays.reserve(image.ops.size());
  std::vector<uint32_t> of_bank(banks);
  for (const isa::MicroOp& op : image.ops) {
    std::ranges::fill(of_bank, 0);
    for (uint32_t i = 0; i < op.num_sb_reads; ++i) {
      const uint16_t* read = op.sb_reads.data() + i;
      const bool again = std::find(op.sb_reads.data(), read, *read) != read;
      if (*read < image.num_rows && !again) ++of_bank[*read % banks];  // what lies above are predicates
    }
    const uint32_t most = *std::ranges::max_element(of_bank);
    delays.push_back(static_cast<uint8_t>(most == 0 ? 0 : (most + reads - 1) / reads - 1));
  }
  return delays;
}

}  // namespace gpusim::comp
