// A TLM-2.0 memory outside of gpusim: every request takes the same time, and so many can be under way. It
// speaks the four phases of the approximately timed base protocol (IEEE 1666-2011, clause 15): it takes a
// request with BEGIN_REQ and frees the channel for the next one with END_REQ, which it delays while its queue
// is full; it answers with BEGIN_RESP and has the response taken with END_RESP, one response at a time.
#pragma once
#include <tlm_utils/peq_with_get.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>

class FixedLatencyMemory : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  SC_HAS_PROCESS(FixedLatencyMemory);
  FixedLatencyMemory(const sc_core::sc_module_name& name, sc_core::sc_time latency, size_t queue)
      : sc_module(name), socket("socket"), latency_(latency), queue_(queue) {
    socket.bind(*this);
    SC_METHOD(take_requests);
    sensitive << arriving_.get_event();
    dont_initialize();
    SC_METHOD(collect_served);
    sensitive << serving_.get_event();
    dont_initialize();
    SC_METHOD(finish_response);
    sensitive << ending_.get_event();
    dont_initialize();
  }
  tlm::tlm_target_socket<> socket;
  [[nodiscard]] uint64_t requests() const { return requests_; }

  // A phase from gpusim counts from now on plus `delay`, so it is kept until then.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& request, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      request.acquire();
      arriving_.notify(request, delay);
    } else {  // END_RESP
      ending_.notify(request, delay);
    }
    return tlm::TLM_ACCEPTED;
  }
  // gpusim uses none of these.
  void b_transport(tlm::tlm_generic_payload& request, sc_core::sc_time&) override {
    request.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

 private:
  void take_requests() {
    while (auto* request = arriving_.get_next_transaction()) waiting_ = request;
    accept();
  }
  /// Accepts the request that waits if there is room; the next one comes only after that.
  void accept() {
    if (waiting_ == nullptr || under_way_ == queue_) return;
    auto& request = *waiting_;
    waiting_ = nullptr;
    ++under_way_;
    ++requests_;
    serving_.notify(request, latency_);
    send(request, tlm::END_REQ);
  }
  void collect_served() {
    while (auto* request = serving_.get_next_transaction()) served_.push_back(request);
    respond();
  }
  void respond() {
    if (responding_ || served_.empty()) return;
    responding_ = true;
    auto& request = *served_.front();
    served_.pop_front();
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    send(request, tlm::BEGIN_RESP);
  }
  void finish_response() {
    while (auto* request = ending_.get_next_transaction()) {
      --under_way_;
      responding_ = false;
      request->release();
    }
    accept();
    respond();
  }
  /// gpusim answers with the next phase later, through nb_transport_fw().
  void send(tlm::tlm_generic_payload& request, tlm::tlm_phase phase) {
    sc_core::sc_time delay;
    socket->nb_transport_bw(request, phase, delay);
  }

  const sc_core::sc_time latency_;
  const size_t queue_;
  size_t under_way_ = 0;
  uint64_t requests_ = 0;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> arriving_{"arriving"}, serving_{"serving"},
      ending_{"ending"};
  tlm::tlm_generic_payload* waiting_ = nullptr;
  std::deque<tlm::tlm_generic_payload*> served_;  ///< whose response has not begun
  bool responding_ = false;
};
