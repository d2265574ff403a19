#include "components/lsu/load_store_unit.h"

namespace gpusim::comp {

LoadStoreUnit::LoadStoreUnit(const core::MachineConfig& machine, uint16_t port, const Links& links)
    : global_(make_global_path(machine, port, {links.request, links.reply, links.tlb}, accesses_)),
      foreseeing_(dynamic_cast<L1Path<NoTlb>*>(global_.get())),
      constants_(machine.constant, port, {links.constant_request, links.constant_reply}, accesses_),
      textures_(machine.texture, port, links.texture, accesses_) {}

void LoadStoreUnit::prepare() {
  if (accesses_.prepared()) return;
  accesses_.prepare(global_->capacity() + kMaxWarps + textures_.capacity() + kReserve,
                    global_->most_replies());
  global_->prepare();
  constants_.prepare();
}

void LoadStoreUnit::set_events(const EventSink* events) {
  global_->set_events(events);
  constants_.set_events(events);
}

}  // namespace gpusim::comp
