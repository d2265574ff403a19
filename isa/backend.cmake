add_library(gpusim_isa_backend OBJECT micro_op.cpp)
target_link_libraries(gpusim_isa_backend PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_backend)
