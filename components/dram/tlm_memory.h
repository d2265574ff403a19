// What stands in the place of a DRAM channel when the memory is an outside SystemC model: it turns a
// partition's requests into TLM-2.0 generic payloads and sends them through an initiator socket,
// approximately timed, with the four phases of the base protocol. The memory holds requests back by delaying
// END_REQ, and may answer in any order; replies that the partition cannot take yet hold back END_RESP.
// Payloads carry an address (offset in this channel: dense, the interleaving over partitions and channels is
// taken out), a length and a command; values stay with the simulator, the data pointer leads to scratch
// bytes. An atomic is a read, whose response answers it, and a write behind it that answers nobody. Clocked
// in the DRAM domain: a phase of the memory at time t is seen at the first edge strictly later than t, as a
// message of a link would be. Phases of ours carry as their delay the time by which the engine is ahead of
// sc_time_stamp(). Asleep unless a request or a phase has come. Standard: IEEE 1666-2011, clauses 11 and 15.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tlm>
#include <vector>

#include "components/dram/dram_channel.h"
#include "components/dram/dram_timing.h"
#include "components/noc/messages.h"
#include "simcore/engine/link.h"
#include "simcore/ring.h"

namespace gpusim::comp {

class TlmMemory : public core::Clocked, public tlm::tlm_bw_transport_if<>, private tlm::tlm_mm_interface {
 public:
  using OnError = std::function<void(std::string)>;

  /// `index`: of the channel, partition by partition. At most dram.queue transactions are in flight.
  /// `on_error` is told of a breach of the protocol and ends the run.
  TlmMemory(const sc_core::sc_module_name& name, core::ClockDomain& domain,
            const core::MachineConfig& machine, uint32_t index, OnError on_error);

  /// To be bound to the outside memory before the simulation starts.
  tlm::tlm_initiator_socket<> socket;

  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    requests_ = &requests;
    requests_->publish_head(next_request_);
    replies_ = &replies;
  }
  [[nodiscard]] uint32_t index() const { return index_; }
  /// Requests answered and bytes moved; what only our DRAM has stays 0.
  [[nodiscard]] const DramStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // none is asked for

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  enum class State : uint8_t { kFree, kRequested, kAccepted, kResponded };
  struct Transaction : tlm::tlm_generic_payload {
    MemoryRequest request;
    State state = State::kFree;
    bool answers = true;        ///< the partition waits for it
    bool ends_response = true;  ///< END_RESP is owed
  };
  struct Response {
    core::Cycle visible;
    Transaction* transaction = nullptr;
  };
  void free(tlm::tlm_generic_payload* payload) override;
  /// The next response becomes a reply; false if the partition cannot take it yet.
  bool take_response();
  void begin_request(const MemoryRequest& request, bool answers);
  void end_request(Transaction& t, core::Femtoseconds at);
  void respond(Transaction& t, core::Femtoseconds at, bool ends_response);
  void fail(const Transaction& t, const std::string& what);
  /// The later of the kernel's time and the engine's, which runs ahead of it within an activation.
  [[nodiscard]] core::Femtoseconds now_fs() const {
    return std::max<core::Femtoseconds>(sc_core::sc_time_stamp().value(), domain().engine().now_fs());
  }
  /// Time by which the engine is ahead of the SystemC kernel.
  [[nodiscard]] sc_core::sc_time lead() const;

  DramPlaces places_;
  uint32_t index_;
  OnError on_error_;
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  core::Cycle next_request_ = core::kNever;
  core::Cycle can_request_{0};  ///< when END_REQ of the last request is seen; kNever: it has not come
  std::vector<Transaction> transactions_;
  std::vector<Transaction*> free_;
  std::vector<Response> responses_;    ///< by the time at which they are seen, the first one last
  core::Ring<MemoryRequest> updates_;  ///< writes of atomics, not sent yet
  std::vector<unsigned char> scratch_;
  DramStats stats_;
};

/// Binds the socket of one channel to an outside memory.
using AttachMemory = std::function<void(TlmMemory&)>;

}  // namespace gpusim::comp
