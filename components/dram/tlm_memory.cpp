#include "components/dram/tlm_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

namespace {
constexpr size_t kLongestRequest = 4096;  ///< a line of a constant cache
}

TlmMemory::TlmMemory(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                     const core::MachineConfig& machine, uint32_t index, OnError on_error)
    : Clocked(name, domain),
      socket("socket"),
      places_(machine),
      index_(index),
      on_error_(std::move(on_error)),
      transactions_(machine.dram.queue),
      updates_(transactions_.size()),
      scratch_(kLongestRequest) {
  socket.bind(*this);
  for (Transaction& t : transactions_) {
    t.set_mm(this);
    free_.push_back(&t);
  }
  responses_.reserve(transactions_.size());
}

sc_core::sc_time TlmMemory::lead() const {
  return sc_core::sc_time::from_value(domain().engine().now_fs() - sc_core::sc_time_stamp().value());
}

core::Cycle TlmMemory::tick(core::Cycle now) {
  // 1. One response becomes a reply.
  const bool blocked = !responses_.empty() && responses_.back().visible <= now && !take_response();
  // 2. One request begins; writes of atomics first, so that at most as many wait as there are transactions.
  if (can_request_ <= now && !free_.empty()) {
    if (updates_.size() != 0)
      begin_request(updates_.pop(), false);
    else if (next_request_ <= now)
      begin_request(requests_->pop(), true);
  }
  // The link wakes what it refused, a phase or a transaction that becomes free what waits for it.
  core::Cycle next = core::kNever;
  if (!blocked && !responses_.empty()) next = responses_.back().visible;
  if (!free_.empty() && (updates_.size() != 0 || next_request_ != core::kNever))
    next = std::min(next, std::max(can_request_, updates_.size() != 0 ? now + 1 : next_request_));
  return next == core::kNever ? next : std::max(next, now + 1);
}

void TlmMemory::begin_request(const MemoryRequest& request, bool answers) {
  Transaction& t = *free_.back();
  free_.pop_back();
  t.request = request;
  t.answers = answers;
  t.state = State::kRequested;
  t.acquire();
  t.set_command(request.kind == RequestKind::kWrite ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  t.set_address(places_.local(request.address));
  t.set_data_ptr(scratch_.data());
  t.set_data_length(request.bytes);
  t.set_streaming_width(request.bytes);
  t.set_byte_enable_ptr(nullptr);
  t.set_byte_enable_length(0);
  t.set_dmi_allowed(false);
  t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  can_request_ = core::kNever;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = lead();
  const tlm::tlm_sync_enum result = socket->nb_transport_fw(t, phase, delay);
  const core::Femtoseconds at =
      std::max<core::Femtoseconds>(sc_core::sc_time_stamp().value() + delay.value(), now_fs());
  if (result == tlm::TLM_COMPLETED)
    respond(t, at, false);
  else if (result == tlm::TLM_UPDATED && phase == tlm::END_REQ)
    end_request(t, at);
  else if (result == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)
    respond(t, at, true);
  else if (result == tlm::TLM_UPDATED)
    fail(t, "BEGIN_REQ is answered by a phase that is neither END_REQ nor BEGIN_RESP");
}

tlm::tlm_sync_enum TlmMemory::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  auto& t = static_cast<Transaction&>(payload);
  const core::Femtoseconds at =
      std::max<core::Femtoseconds>(sc_core::sc_time_stamp().value() + delay.value(), now_fs());
  if (phase == tlm::END_REQ)
    end_request(t, at);
  else if (phase == tlm::BEGIN_RESP)
    respond(t, at, true);
  else
    fail(t, "the memory began a phase that is neither END_REQ nor BEGIN_RESP");
  return tlm::TLM_ACCEPTED;
}

void TlmMemory::end_request(Transaction& t, core::Femtoseconds at) {
  if (t.state != State::kRequested) return fail(t, "END_REQ came twice, or for no request");
  t.state = State::kAccepted;
  can_request_ = domain().first_edge_after(at);
  wake_at(can_request_);
}

void TlmMemory::respond(Transaction& t, core::Femtoseconds at, bool ends_response) {
  // A response without END_REQ implies it.
  if (t.state == State::kRequested) end_request(t, at);
  if (t.state != State::kAccepted) return fail(t, "the memory responded twice, or to no request");
  if (t.get_response_status() != tlm::TLM_OK_RESPONSE)
    return fail(t, fmt::format("the memory responded {}", t.get_response_string()));
  t.state = State::kResponded;
  t.ends_response = ends_response;
  const core::Cycle visible = domain().first_edge_after(at);
  const auto place = std::find_if(responses_.begin(), responses_.end(),
                                  [&](const Response& r) { return r.visible <= visible; });
  responses_.insert(place, {visible, &t});
  wake_at(responses_.back().visible);
}

bool TlmMemory::take_response() {
  Transaction& t = *responses_.back().transaction;
  const MemoryRequest& r = t.request;
  if (t.answers && !replies_->can_push()) return false;
  responses_.pop_back();
  const bool writes = t.is_write();
  ++(writes ? stats_.writes : stats_.reads);
  (writes ? stats_.write_bytes : stats_.read_bytes) += r.bytes;
  if (t.answers)
    replies_->push({r.address, r.bytes, r.kind, MemoryLevel::kDram, r.port, r.tag,
                    r.kind != RequestKind::kWrite && r.wants_data});
  if (r.kind == RequestKind::kAtomic) {
    MemoryRequest update = r;
    update.kind = RequestKind::kWrite;
    updates_.push(update);
  }
  if (t.ends_response) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = lead();
    socket->nb_transport_fw(t, phase, delay);
  }
  t.state = State::kFree;
  t.release();
  return true;
}

void TlmMemory::free(tlm::tlm_generic_payload* payload) {
  free_.push_back(static_cast<Transaction*>(payload));
  wake_at(domain().first_edge_after(now_fs()));
}

void TlmMemory::fail(const Transaction& t, const std::string& what) {
  on_error_(fmt::format("outside memory of channel {}, address {:#x}: {}", index_, t.get_address(), what));
}

std::string TlmMemory::waiting_for() const {
  const size_t open = transactions_.size() - free_.size() + updates_.size();
  return open == 0
             ? std::string()
             : fmt::format("{} transactions in the outside memory{}", open,
                           can_request_ == core::kNever ? ", which has not ended the last request" : "");
}

}  // namespace gpusim::comp
