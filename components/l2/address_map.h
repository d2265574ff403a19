// Which memory partition an address lies in, and where in it: blocks of l2.interleave bytes go round the
// partitions, in their order or permuted by a hash of the block's number (XOR folding, or the remainder of a
// division of polynomials: Rau, "Pseudo-Randomly Interleaved Memory", ISCA 1991). Where the partitions are no
// power of two, a hash turns each round of blocks by a number of its own. Each round holds one block of every
// partition with these hashes. `scatter` deals the blocks of 64 rounds out as if drawn by lot, 64 to each
// partition: over less than that, some partitions have more to do than others. Places in a partition are dense
// whatever the hash. Plain function object.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "simcore/bits.h"
#include "simcore/config/limits.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"

namespace gpusim::comp {

class AddressMap {
 public:
  explicit AddressMap(const core::MachineConfig::Partition& config)
      : interleave_(config.interleave),
        partitions_(config.partitions),
        span_(uint64_t{config.interleave} * config.partitions) {
    if (config.hash == core::PartitionHash::kModulo || config.partitions == 1) return;
    if (config.hash == core::PartitionHash::kScatter) {
      scatter_ = true;
      return;
    }
    if (!std::has_single_bit(partitions_.value())) {
      turns_ = true;
      return;
    }
    bits_ = core::lowest_bit(partitions_.value());
    build_masks(config.hash == core::PartitionHash::kPolynomial);
  }

  [[nodiscard]] uint32_t partition(uint64_t address) const {
    const uint64_t block = address / interleave_;
    if (bits_ != 0) return hash(block);
    if (scatter_) return scattered(block).partition;
    if (turns_) return static_cast<uint32_t>((block + turn(block / partitions_)) % partitions_);
    return static_cast<uint32_t>(block % partitions_);
  }
  /// How many blocks of its partition come before its own.
  [[nodiscard]] uint64_t round(uint64_t address) const {
    return scatter_ ? scattered(address / interleave_).round : address / span_;
  }
  /// Place in its partition.
  [[nodiscard]] uint64_t local(uint64_t address) const {
    return round(address) * interleave_.value() + address % interleave_;
  }
  /// The address at a place of a partition.
  [[nodiscard]] uint64_t global(uint64_t local, uint32_t partition) const {
    if (scatter_) return gathered({local / interleave_, partition}) * interleave_.value() + local % interleave_;
    const uint64_t round = local / interleave_ * partitions_.value();
    uint64_t in_round = partition;
    // The hash is linear, and the identity within a round's low bits.
    if (bits_ != 0) in_round ^= hash(round);
    if (turns_) {
      const uint64_t all = partitions_.value();
      in_round = (partition + all - turn(local / interleave_) % partitions_) % partitions_;
    }
    return (round + in_round) * interleave_.value() + local % interleave_;
  }

 private:
  static constexpr uint32_t kMostBits = core::kMaxPartitionBits;
  static constexpr uint64_t kScatteredRounds = 64;
  struct Place {
    uint64_t round;
    uint32_t partition;
  };

  /// Three steps of a cipher of Feistel's kind: each changes one half of the place by a draw that depends on the
  /// other, and so can be undone.
  [[nodiscard]] Place scattered(uint64_t block) const {
    Place p{block / partitions_, static_cast<uint32_t>(block % partitions_)};
    p.partition = turned(p.partition, drawn_partition(p.round, 0));
    p.round ^= drawn_round(p);
    p.partition = turned(p.partition, drawn_partition(p.round, 1));
    return p;
  }
  [[nodiscard]] uint64_t gathered(Place p) const {
    const auto all = static_cast<uint32_t>(partitions_.value());
    p.partition = turned(p.partition, all - drawn_partition(p.round, 1));
    p.round ^= drawn_round(p);
    p.partition = turned(p.partition, all - drawn_partition(p.round, 0));
    return p.round * all + p.partition;
  }
  /// `by` at most the number of partitions.
  [[nodiscard]] uint32_t turned(uint32_t partition, uint32_t by) const {
    const auto all = static_cast<uint32_t>(partitions_.value());
    const uint32_t sum = partition + by;
    return sum < all ? sum : sum - all;
  }
  [[nodiscard]] uint32_t drawn_partition(uint64_t round, uint64_t step) const {
    return static_cast<uint32_t>(drawn(round * 2 + step) * partitions_.value() >> 32);
  }
  [[nodiscard]] uint64_t drawn_round(const Place& p) const {
    return drawn(p.round / kScatteredRounds * partitions_.value() + p.partition) % kScatteredRounds;
  }
  /// 32 bits that look drawn by lot.
  [[nodiscard]] static uint64_t drawn(uint64_t of) {
    of *= 0x9e3779b97f4a7c15u;
    of ^= of >> 29;
    return of * 0xbf58476d1ce4e5b9u >> 32;
  }

  [[nodiscard]] uint32_t hash(uint64_t block) const {
    uint32_t p = 0;
    for (uint32_t b = 0; b < bits_; ++b) p |= uint32_t{std::popcount(block & masks_[b]) % 2 != 0} << b;
    return p;
  }
  /// By how many partitions a round of blocks is turned: the upper bits of a product (Knuth's multiplicative
  /// hashing), so that rounds at any stride differ.
  [[nodiscard]] static uint64_t turn(uint64_t round) { return round * 0x9e3779b97f4a7c15u >> 32; }
  /// Of a machine that hashes.
  void build_masks(bool polynomial) {
    if (bits_ == 0) return;
    // A primitive polynomial over GF(2) of each degree, without its highest term.
    constexpr std::array<uint32_t, kMostBits + 1> kPolynomials{0, 0x1, 0x3, 0x3, 0x3, 0x5, 0x3, 0x3, 0x1d};
    const uint32_t low = (1u << bits_) - 1;
    uint32_t remainder = 1;  // of x^k
    for (uint32_t k = 0; k < 64; ++k) {
      for (uint32_t b = 0; b < bits_; ++b)
        if ((polynomial ? remainder >> b & 1 : k % bits_ == b) != 0) masks_[b] |= uint64_t{1} << k;
      const bool carry = (remainder >> (bits_ - 1) & 1) != 0;
      remainder = (remainder << 1 & low) ^ (carry ? kPolynomials[bits_] : 0);
    }
  }

  core::Divisor interleave_, partitions_, span_;
  bool scatter_ = false;
  bool turns_ = false;                       ///< the hash of partitions that are no power of two
  uint32_t bits_ = 0;                        ///< of a partition's number; 0: no hash of bits
  std::array<uint64_t, kMostBits> masks_{};  ///< bits of the block's number whose parity is a bit of the hash
};

}  // namespace gpusim::comp
