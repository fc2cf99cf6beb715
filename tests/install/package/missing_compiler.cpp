#error "this target has no compiler, and is not to be built"
