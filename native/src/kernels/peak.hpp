// The core's own yardstick: the rate of independent fused multiply-adds that this processor sustains.
#pragma once

#include <chrono>

#include "vector.hpp"

namespace trisweep {

// Best of `repetitions` runs, in floating-point operations a second (a multiply-add counts as two).
inline double fma_peak(int repetitions) {
    constexpr int CHAINS = 12, STEPS = 20000;
    double best = 0.0;
    for (int r = 0; r < repetitions; ++r) {
        vec acc[CHAINS];
        for (int i = 0; i < CHAINS; ++i) acc[i] = broadcast(double(i));
        vec a = broadcast(0.999), b = broadcast(1e-3);
        asm volatile("" : "+m"(a), "+m"(b));
        const vec factor = a, addend = b;
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < STEPS; ++k)
#pragma GCC unroll 12
            for (int i = 0; i < CHAINS; ++i) acc[i] = acc[i] * factor + addend;
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        for (int i = 0; i < CHAINS; ++i) asm volatile("" : : "m"(acc[i]));
        const double rate = 2.0 * W * CHAINS * STEPS / elapsed.count();
        if (rate > best) best = rate;
    }
    return best;
}

}  // namespace trisweep
