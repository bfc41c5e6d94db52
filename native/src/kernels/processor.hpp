// Which instruction sets this processor runs. The names are those of the extension modules `_core_<level>`.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

// Whether 512-bit operations are as quick as 256-bit ones: Zen 4 (AMD's family 19h) takes two turns for each.
inline bool processor_has_wide_units() {
#if defined(__x86_64__)
    unsigned a, b, c, d, signature;
    if (!processor_runs_avx512() || !__get_cpuid(0, &a, &b, &c, &d) || !__get_cpuid(1, &signature, &b, &c, &d))
        return false;
    const unsigned family = ((signature >> 8) & 0xf) + ((signature >> 20) & 0xff);
    return family != 0x19;
#else
    return false;
#endif
}

// Asked once, when the core is loaded.
inline const bool WIDE_UNITS = processor_has_wide_units();

}  // namespace trisweep
