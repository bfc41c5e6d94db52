// The adaptive choice of mu (Nocedal, Wächter and Waltz 2009, "Adaptive barrier update strategies for nonlinear interior
// methods"): Mehrotra's probing rule from iteration to iteration, guarded by the KKT error. Where that has not fallen below
// its last few values, mu is held and decreased monotonely until it has.
#pragma once

#include <algorithm>
#include <array>

#include "barrier.hpp"

namespace trisweep {

class AdaptiveBarrier {
public:
    bool free = false;

    void start(bool adaptive) {
        free = adaptive;
        errors.fill(INFINITY);
        next = 0;
    }

    // Whether a point with this KKT error is progress; if it is, it will be compared with later.
    bool progress(double error) {
        if (!(error <= REDUCTION * *std::max_element(errors.begin(), errors.end()))) return false;
        errors[next] = error;
        next = (next + 1) % errors.size();
        return true;
    }

    // mu where the search starts to hold it.
    static double held(const Program& program) { return HELD_SHARE * mean_complementarity(program); }

    // mu from dv, the direction towards complementarity zero.
    static double probe(Program& program, const double* dv) {
        find_dual_steps(program, dv, 0.0);
        const double now = mean_complementarity(program);
        const double then = mean_complementarity_after(program, dv, largest_primal_step(program, dv, 1.0),
                                                       largest_dual_step(program, 1.0));
        const double share = std::min(then / now, MOST_SHARE);
        return share * share * share * now;
    }

private:
    static constexpr double REDUCTION = 0.9999, HELD_SHARE = 0.8, MOST_SHARE = 4.6;  // 4.6^3 is about 100

    std::array<double, 4> errors{};
    std::size_t next = 0;
};

}  // namespace trisweep
