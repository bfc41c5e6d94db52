// The core's own yardstick: the rate of independent fused multiply-adds that this processor sustains.
#pragma once

#include <algorithm>
#include <chrono>

#include "vector.hpp"

namespace trisweep {

// Best of `repetitions` runs, in floating-point operations a second (a multiply-add counts as two), with vectors of WIDTH.
template <int WIDTH>
double fma_peak_of_width(int repetitions) {
    typedef double V __attribute__((vector_size(WIDTH * sizeof(double))));
    constexpr int CHAINS = 12, STEPS = 20000;
    double best = 0.0;
    for (int r = 0; r < repetitions; ++r) {
        V acc[CHAINS];
        for (int i = 0; i < CHAINS; ++i) acc[i] = double(i) - V{};
        V a = 0.999 - V{}, b = 1e-3 - V{};
        asm volatile("" : "+m"(a), "+m"(b));
        const V factor = a, addend = b;
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < STEPS; ++k)
#pragma GCC unroll 12
            for (int i = 0; i < CHAINS; ++i) acc[i] = acc[i] * factor + addend;
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        for (int i = 0; i < CHAINS; ++i) asm volatile("" : : "m"(acc[i]));
        const double rate = 2.0 * WIDTH * CHAINS * STEPS / elapsed.count();
        if (rate > best) best = rate;
    }
    return best;
}

inline double fma_peak(int repetitions) {
    const double plain = fma_peak_of_width<W>(repetitions);
    return WIDEST == W ? plain : std::max(plain, fma_peak_of_width<WIDEST>(repetitions));
}

}  // namespace trisweep
