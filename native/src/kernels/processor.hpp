// Which instruction sets this processor runs. The names are those of the extension modules `_core_<level>`.
#pragma once

#include <string>
#include <vector>

namespace trisweep {

inline bool processor_runs_avx2() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

inline bool processor_runs_avx512() {
#if defined(__x86_64__)
    return processor_runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

// Slowest first.
inline std::vector<std::string> processor_levels() {
    std::vector<std::string> levels{"baseline"};
    if (processor_runs_avx2()) levels.emplace_back("avx2");
    if (processor_runs_avx512()) levels.emplace_back("avx512");
    return levels;
}

}  // namespace trisweep
