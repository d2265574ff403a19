// Where addresses lie in memory partitions: simcore/address_map.h, which models share with the components.
#pragma once
#include "simcore/address_map.h"

namespace gpusim::comp {

using core::AddressMap;

}  // namespace gpusim::comp
