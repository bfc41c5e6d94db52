// Where a point that is taken over from another problem (a warm start, a plan after a jump of the state) is too near its bounds:
// its first directions are cut short by them. It goes back towards the middle, with a mu that fits what is left to gain.
#pragma once

#include <algorithm>
#include <cmath>

#include "barrier.hpp"

namespace trisweep {

class Retreat {
public:
    void start(bool warm) {
        left = warm ? PROBES : 0;
        cuts = 0;
    }
    bool possible() const { return left > 0; }

    // Whether a direction is to be given up. A step or two that is cut short by the few bounds that come or go is the way to
    // another active set.
    bool asked_for(Program& program, const double* dv, double mu, double tau) {
        if (!possible()) return false;
        --left;
        if (!cut_short(largest_primal_step(program, dv, tau))) return false;
        find_dual_steps(program, dv, mu, tau);
        if (++cuts < MOST_CUTS && !meets_many(program, dv)) return false;
        left = 0;
        return true;
    }

    // Whether a direction changes more than the active set next to it; the bounds' steps go with it.
    static bool meets_many(const Program& program, const double* dv) {
        return bounds_met(program, dv) > FEW * bound_count(program);
    }

    // Whether the bounds cut a step to so little that its direction says nothing.
    static bool cut_short(double alpha) { return alpha <= SHORT; }

    // mu after such a step: a share of what its direction was to gain, for each of the bounds met. It has the units of the cost.
    static double barrier(const Program& program, const double* dv, double gain, double mu) {
        const double each = std::fabs(gain) / std::max(1, bounds_met(program, dv));
        return std::min(MOST_MU, std::max(MORE * mu, SHARE_OF_GAIN * each));
    }

    // v off its bounds, as far as their multipliers ask for at this mu, but no more than a share of the range; and multipliers
    // that fit the gaps.
    static void run(Program& program, double mu, double* v) {
        push_away(program.lower, program.upper, program.size, mu, v);
        push_away(program.upper, program.lower, program.size, mu, v);
        program.refresh_gaps(v);
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; i += W)
                store(b->dual + i, larger(load(b->dual + i), mu * load(b->inverse + i)));
    }

private:
    static constexpr int PROBES = 6, MOST_CUTS = 2;  // of a start: directions looked at, and cuts that are too many
    static constexpr double FEW = 0.02;              // share of the bounds
    static constexpr double SHORT = 0.4, MORE = 10.0, MOST_MU = 1e3, SHARE_OF_GAIN = 0.3;
    static constexpr double SHARE = 0.1;  // of a range

    // How many bounds the whole of dv runs into, or turns the multipliers of, whose `step` goes with it.
    static int bounds_met(const Program& program, const double* dv) {
        int met = 0;
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i)
                if (b->there[i] != 0.0 && (b->gap[i] + b->sign * dv[i] < 0.0 || b->dual[i] + b->step[i] < 0.0)) ++met;
        return met;
    }

    static void push_away(const Bounds& b, const Bounds& other, const double* size, double mu, double* v) {
        for (int i = 0; i < b.size; ++i) {
            if (b.there[i] == 0.0) continue;
            double least = size[i] * std::sqrt(mu);
            if (b.dual[i] > 0.0) least = std::min(least, mu / b.dual[i]);
            if (other.there[i] != 0.0) least = std::min(least, SHARE * std::fabs(other.bound[i] - b.bound[i]));
            const double gap = b.sign * (v[i] - b.bound[i]);
            if (gap < least) v[i] = b.bound[i] + b.sign * least;
        }
    }

    int left = 0, cuts = 0;
};

}  // namespace trisweep
