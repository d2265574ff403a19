add_library(gpusim_isa_frontend OBJECT types.cpp)
target_link_libraries(gpusim_isa_frontend PUBLIC fmt::fmt Boost::headers)
gpusim_target_defaults(gpusim_isa_frontend)
