// Which instruction sets this processor runs. The names are those of the extension modules `_core_<level>`.
#pragma once

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

}  // namespace trisweep
