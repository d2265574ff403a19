// Which memory partition an address lies in, and where in it: blocks of l2.interleave bytes go round the
// partitions, in their order or permuted by a hash of the block's number (XOR folding, or the remainder of a
// division of polynomials: Rau, "Pseudo-Randomly Interleaved Memory", ISCA 1991). Where the partitions are no
// power of two, a hash turns each round of blocks by a number of its own. Each round holds one block of every
// partition with these hashes, which may look at the lowest bits of a round's number only (l2.hash_bits).
// `scatter` deals the blocks of 64 rounds out as if drawn by lot, 64 to each partition: over less than that,
// some partitions have more to do than others. Places in a partition are dense whatever the hash. Plain
// function object.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "simcore/bits.h"
#include "simcore/config/limits.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"

namespace gpusim::core {

class AddressMap {
 public:
  explicit AddressMap(const MachineConfig::Partition& config)
      : interleave_(config.interleave),
        partitions_(config.partitions),
        span_(uint64_t{config.interleave} * config.partitions) {
    if (config.hash == PartitionHash::kModulo || config.partitions == 1) return;
    if (config.hash == PartitionHash::kScatter) {
      deal_ = deal_for(partitions_.value());
      dealt_ = Divisor(Deal::kRounds * partitions_.value());
      return;
    }
    if (!std::has_single_bit(partitions_.value())) {
      turns_ = true;
      if (config.hash_bits != 0) turning_ = (uint64_t{1} << config.hash_bits) - 1;
      return;
    }
    bits_ = lowest_bit(partitions_.value());
    build_masks(config.hash == PartitionHash::kPolynomial,
                config.hash_bits == 0 ? 64 : config.hash_bits + bits_);
  }

  [[nodiscard]] uint32_t partition(uint64_t address) const {
    const uint64_t block = address / interleave_;
    if (bits_ != 0) return hash(block);
    if (deal_) return static_cast<uint32_t>(turned(deal_->partition[block % dealt_], turn(block / dealt_)));
    if (turns_) return static_cast<uint32_t>((block + turn(block / partitions_ & turning_)) % partitions_);
    return static_cast<uint32_t>(block % partitions_);
  }
  /// How many blocks of its partition come before its own.
  [[nodiscard]] uint64_t round(uint64_t address) const {
    if (!deal_) return address / span_;
    const uint64_t block = address / interleave_;
    return block / dealt_ * Deal::kRounds + deal_->before[block % dealt_];
  }
  /// Place in its partition.
  [[nodiscard]] uint64_t local(uint64_t address) const {
    return round(address) * interleave_.value() + address % interleave_;
  }
  /// The address at a place of a partition.
  [[nodiscard]] uint64_t global(uint64_t local, uint32_t partition) const {
    if (deal_) {
      const uint64_t before = local / interleave_, deal = before / Deal::kRounds, all = partitions_.value();
      const uint64_t card = turned(partition, all - turn(deal) % partitions_) * Deal::kRounds;
      const uint64_t block = deal * dealt_.value() + deal_->block[card + before % Deal::kRounds];
      return block * interleave_.value() + local % interleave_;
    }
    const uint64_t round = local / interleave_ * partitions_.value();
    uint64_t in_round = partition;
    // The hash is linear, and the identity within a round's low bits.
    if (bits_ != 0) in_round ^= hash(round);
    if (turns_) {
      const uint64_t all = partitions_.value();
      in_round = (partition + all - turn(local / interleave_ & turning_) % partitions_) % partitions_;
    }
    return (round + in_round) * interleave_.value() + local % interleave_;
  }

 private:
  static constexpr uint32_t kMostBits = kMaxPartitionBits;
  /// Blocks of kRounds rounds, shuffled: the partition of each, how many of its partition come before it, and
  /// back. The same for every 64 rounds but for a turn of the partitions.
  struct Deal {
    static constexpr uint64_t kRounds = 64;
    explicit Deal(uint64_t partitions);
    std::vector<uint16_t> partition, before, block;
  };
  /// One for all maps of as many partitions; never destroyed, for programs simulate until their very end.
  [[nodiscard]] static std::shared_ptr<const Deal> deal_for(uint64_t partitions) {
    static std::mutex mutex;
    static auto& deals = *new std::map<uint64_t, std::shared_ptr<const Deal>>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const Deal>& deal = deals[partitions];
    if (!deal) deal = std::make_shared<const Deal>(partitions);
    return deal;
  }
  [[nodiscard]] uint64_t turned(uint64_t partition, uint64_t by) const {
    return (partition + by) % partitions_;
  }

  [[nodiscard]] uint32_t hash(uint64_t block) const {
    uint32_t p = 0;
    for (uint32_t b = 0; b < bits_; ++b) p |= uint32_t{std::popcount(block & masks_[b]) % 2 != 0} << b;
    return p;
  }
  /// By how many partitions a round of blocks is turned: the upper bits of a product (Knuth's multiplicative
  /// hashing), so that rounds at any stride differ.
  [[nodiscard]] static uint64_t turn(uint64_t round) { return round * 0x9e3779b97f4a7c15u >> 32; }
  /// Of a machine that hashes the lowest `hashed` bits.
  void build_masks(bool polynomial, uint32_t hashed) {
    if (bits_ == 0) return;
    // A primitive polynomial over GF(2) of each degree, without its highest term.
    constexpr std::array<uint32_t, kMostBits + 1> kPolynomials{0, 0x1, 0x3, 0x3, 0x3, 0x5, 0x3, 0x3, 0x1d};
    const uint32_t low = (1u << bits_) - 1;
    uint32_t remainder = 1;  // of x^k
    for (uint32_t k = 0; k < std::min(hashed, 64u); ++k) {
      for (uint32_t b = 0; b < bits_; ++b)
        if ((polynomial ? remainder >> b & 1 : k % bits_ == b) != 0) masks_[b] |= uint64_t{1} << k;
      const bool carry = (remainder >> (bits_ - 1) & 1) != 0;
      remainder = (remainder << 1 & low) ^ (carry ? kPolynomials[bits_] : 0);
    }
  }

  Divisor interleave_, partitions_, span_;
  std::shared_ptr<const Deal> deal_;         ///< of `scatter`
  Divisor dealt_;                            ///< blocks of a deal
  bool turns_ = false;                       ///< the hash of partitions that are no power of two
  uint64_t turning_ = ~uint64_t{0};          ///< bits of a round's number that its turn depends on
  uint32_t bits_ = 0;                        ///< of a partition's number; 0: no hash of bits
  std::array<uint64_t, kMostBits> masks_{};  ///< bits of the block's number whose parity is a bit of the hash
};

inline AddressMap::Deal::Deal(uint64_t partitions)
    : partition(kRounds * partitions), before(partition.size()), block(partition.size()) {
  for (uint64_t i = 0; i < partition.size(); ++i) partition[i] = static_cast<uint16_t>(i % partitions);
  // Fisher and Yates, with the upper bits of a linear congruence as the lot.
  uint64_t lot = 1;
  for (uint64_t left = partition.size(); left > 1; --left) {
    lot = lot * 6364136223846793005u + 1442695040888963407u;
    std::swap(partition[left - 1], partition[(lot >> 32) * left >> 32]);
  }
  std::vector<uint16_t> dealt(partitions);
  for (uint64_t i = 0; i < partition.size(); ++i) {
    before[i] = dealt[partition[i]]++;
    block[partition[i] * kRounds + before[i]] = static_cast<uint16_t>(i);
  }
}

}  // namespace gpusim::core
