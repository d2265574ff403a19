// The shared library's own file: everything else of it is in gpusim_runtime.
