// Compiled code as the core calls it (`native/compiler/driver.py` has the convention).
#pragma once

#include <cstdint>

namespace trisweep {

using Evaluate = void (*)(const double* const* inputs, const std::int64_t* input_strides, double* const* outputs,
                          const std::int64_t* output_strides, std::int64_t count, double* work);

}  // namespace trisweep
