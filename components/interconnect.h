// What the GPU knows of a network of one direction: links in, links out, and what it has moved. Crossbar and
// Mesh are the topologies.
#pragma once
#include <cstdint>

#include "simcore/engine/link.h"

namespace gpusim::comp {

/// How an output takes its inputs in turn.
enum class Arbitration : uint8_t {
  kRoundRobin,  ///< the next after the one it took last
  kOldest,      ///< the message that has been in the network for longest; of equals the first input's
};

template <class Message>
class Interconnect : public core::Clocked {
 public:
  using core::Clocked::Clocked;
  /// Every input and output before the first message. Links that share a port take turns.
  virtual void add_input(core::Link<Message>& link, uint32_t port) = 0;
  virtual void add_output(core::Link<Message>& link, uint32_t port) = 0;
  /// That have reached their output link.
  [[nodiscard]] uint64_t flits_moved() const { return flits_moved_; }
  [[nodiscard]] uint64_t messages_moved() const { return messages_moved_; }

 protected:
  uint64_t flits_moved_ = 0, messages_moved_ = 0;
};

}  // namespace gpusim::comp
