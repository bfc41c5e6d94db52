// The logarithmic barrier of a program's bounds, and the primal-dual steps of their multipliers.
// Letters of Wächter and Biegler 2006: mu, Sigma, tau, alpha.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "interior_point/program.hpp"
#include "kernels/columns.hpp"

namespace trisweep {

// The sum of the logarithms of the gaps at v, NaN where one is not positive. The exponents are added and the mantissas
// multiplied, so that few logarithms are taken.
inline double sum_of_logarithms(const Bounds& bounds, const double* v) {
    typedef long long words __attribute__((vector_size(W * sizeof(long long)), may_alias));
    constexpr int TOGETHER = 512;  // mantissas from 1 to 2 whose product is finite
    constexpr double LOG_2 = 0.693147180559945309417232;
    const words mantissa = (1LL << 52) - 1 - words{}, one = (1023LL << 52) - words{};
    words exponents{};
    vec outside{};
    double value = 0.0;
    for (int first = 0; first < bounds.size; first += TOGETHER * W) {
        vec product = 1.0 - vec{};
        for (int i = first; i < std::min(first + TOGETHER * W, bounds.size); i += W) {
            const vec gap = bounds.gaps(v, i);
            const words bits = reinterpret_cast<const words&>(gap);
            const words digits = (bits & mantissa) | one;
            exponents += (bits >> 52) - 1023;
            product *= reinterpret_cast<const vec&>(digits);
            outside = gap > 0.0 ? outside : 1.0 - vec{};
        }
        for (int k = 0; k < W; ++k) value += std::log(product[k]);
    }
    long long exponent = 0;
    for (int k = 0; k < W; ++k) {
        if (outside[k] != 0.0) return std::numeric_limits<double>::quiet_NaN();
        exponent += exponents[k];
    }
    return value + LOG_2 * double(exponent);
}

// sigma = the primal-dual curvature of the barrier
inline void set_curvature(const Program& program, double* sigma) {
    const Bounds &low = program.lower, &high = program.upper;
    for (int i = 0; i < program.size_v; i += W)
        store(sigma + i, load(low.dual + i) * load(low.inverse + i) + load(high.dual + i) * load(high.inverse + i));
}

// h = residual and what the gradient of the barrier, less the corrections, has more than the bounds' multipliers
inline void set_slope(const Program& program, const double* residual, double mu, double* h) {
    const bool corrected = program.corrected;
    for (int i = 0; i < program.size_v; i += W) {
        vec slope = load(residual + i);
        for (const Bounds* b : {&program.lower, &program.upper}) {
            const vec aimed_at = corrected ? mu - load(b->correction + i) : broadcast(mu);
            slope += b->sign * (load(b->dual + i) - aimed_at * load(b->inverse + i));
        }
        store(h + i, slope);
    }
}

// Of the barrier's objective along dv.
inline double barrier_slope(const Program& program, double mu, const double* dv) {
    const double* gradient = program.gradient();
    return sum_over(program.size_v, [&, mu](int i) {
        return (load(gradient + i) - mu * (load(program.lower.inverse + i) - load(program.upper.inverse + i))) *
               load(dv + i);
    });
}

// h -= the bounds' multipliers
inline void subtract_duals(const Program& program, double* h) {
    for (const Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->size; i += W) store(h + i, load(h + i) - b->sign * load(b->dual + i));
}

// Where the direction dv towards complementarity zero leads: how far gaps and multipliers could go along it, and the mean of
// gap times multiplier now and then.
struct Outlook {
    double primal, dual, mean, mean_then;
};

inline Outlook look_ahead(const Program& program, const double* dv) {
    vec lost_gap[2] = {}, lost_dual[2] = {}, now[2] = {}, by_gap[2] = {}, by_dual[2] = {}, by_both[2] = {};
    for (int i = 0; i < program.size_v; i += W)
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k) {
            const Bounds& b = k ? program.upper : program.lower;
            const vec closer = b.sign * load(dv + i), dual = load(b.dual + i), gap = load(b.gap + i);
            const vec share = closer * load(b.inverse + i), left = load(b.there + i) + share, step = -dual * left;
            lost_gap[k] = larger(lost_gap[k], -share), lost_dual[k] = larger(lost_dual[k], left);
            now[k] += gap * dual, by_gap[k] += closer * dual, by_dual[k] += gap * step, by_both[k] += closer * step;
        }
    const auto total = [](const vec(&of)[2]) { return sum(of[0] + of[1]); };
    const double primal = 1.0 / std::max(1.0, largest(larger(lost_gap[0], lost_gap[1])));
    const double dual = 1.0 / std::max(1.0, largest(larger(lost_dual[0], lost_dual[1])));
    const double then = total(now) + primal * total(by_gap) + dual * (total(by_dual) + primal * total(by_both));
    const int count = std::max(1, program.lower.count + program.upper.count);
    return {primal, dual, total(now) / count, then / count};
}

// Mehrotra's correction: what the product of gap and multiplier becomes more by the steps of both that go with that direction,
// which the linear system leaves out.
inline void set_correction(Program& program, const double* dv) {
    program.corrected = true;
    for (int i = 0; i < program.size_v; i += W)
        for (Bounds* b : {&program.lower, &program.upper}) {
            const vec closer = b->sign * load(dv + i), dual = load(b->dual + i);
            store(b->correction + i, -closer * (dual + dual * (closer * load(b->inverse + i))));
        }
}

// Steps of the bounds' multipliers that go with dv, towards gap times multiplier = mu, less the correction. Returns the largest
// share in (0, 1] of them that keeps the share 1 - tau of every multiplier.
inline double find_dual_steps(Program& program, const double* dv, double mu, double tau) {
    const bool corrected = program.corrected;
    vec lost[2] = {},
        of[2] = {broadcast(1.0), broadcast(1.0)};  // the largest share so far, as a fraction: divisions take long
    for (int i = 0; i < program.size_v; i += W)
#pragma GCC unroll 2
        for (int k = 0; k < 2; ++k) {
            Bounds& b = k ? program.upper : program.lower;
            const vec dual = load(b.dual + i), whole = dual + (1.0 - load(b.there + i));
            const vec aimed_at = corrected ? mu - load(b.correction + i) : broadcast(mu);
            const vec step = load(b.inverse + i) * (aimed_at - dual * (b.sign * load(dv + i))) - dual;
            store(b.step + i, step);
            const auto more = -step * of[k] > lost[k] * whole;
            lost[k] = more ? -step : lost[k], of[k] = more ? whole : of[k];
        }
    return tau / std::max(tau, largest(larger(lost[0] / of[0], lost[1] / of[1])));
}

// The largest step in (0, 1] that keeps the share 1 - tau of every gap.
inline double largest_primal_step(const Program& program, const double* dv, double tau) {
    double fastest = tau;
    for (const Bounds* b : {&program.lower, &program.upper})
        fastest = std::max(
            fastest, largest_over(b->size, [=](int i) { return -b->sign * load(dv + i) * load(b->inverse + i); }));
    return tau / fastest;
}

// Take the step, and keep Sigma within a factor of the primal barrier's curvature at the new point (eq. 16).
inline void take_dual_steps(Program& program, double alpha, double mu) {
    constexpr double FACTOR = 1e10;
    for (Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->size; i += W) {
            const vec primal = mu * load(b->inverse + i), next = load(b->dual + i) + alpha * load(b->step + i);
            const vec raised = larger(next, primal * (1.0 / FACTOR)), most = primal * FACTOR;
            store(b->dual + i, raised < most ? raised : most);
        }
}

// The largest difference of gap times multiplier from `target`.
inline double complementarity_error(const Program& program, double target) {
    double worst = 0.0;
    for (const Bounds* b : {&program.lower, &program.upper})
        worst = std::max(worst, largest_over(b->size, [=](int i) {
                             return magnitude(load(b->gap + i) * load(b->dual + i) - target * load(b->there + i));
                         }));
    return worst;
}

// Multipliers whose products with the gaps are all mu.
inline void set_central_duals(Program& program, double mu) {
    for (Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->size; i += W) store(b->dual + i, mu * load(b->inverse + i));
}

inline int bound_count(const Program& program) { return program.lower.count + program.upper.count; }

// The mean of gap times multiplier over all bounds.
inline double mean_complementarity(const Program& program) {
    double sum = 0.0;
    for (const Bounds* b : {&program.lower, &program.upper})
        sum += sum_over(b->size, [=](int i) { return load(b->gap + i) * load(b->dual + i); });
    return sum / std::max(1, bound_count(program));
}

// dv' (H + Sigma) dv of the solution (dv, dy) of the linear system with gradient h and rows r: twice what it gains.
inline double quadratic_gain(const Program& program, const double* h, const double* dv, const double* r,
                             const double* dy) {
    return sum_over(program.size_y, [=](int i) { return load(r + i) * load(dy + i); }) -
           sum_over(program.size_v, [=](int i) { return load(h + i) * load(dv + i); });
}

// Move v, from entry `first` on, inside its bounds by `push`, relative to the size of the bound and of the distance between
// the two (Sec. 3.6); to the latter alone, which no units change, where that is at most `narrow`.
inline void push_inside(const Program& program, const double* size, double push, int first, double* v,
                        double narrow = 0.0) {
    const Bounds &lower = program.lower, &upper = program.upper;
    for (int i = first; i < program.size_v; i += W) {
        const vec low = load(lower.bound + i), high = load(upper.bound + i);
        const vec has_low = load(lower.there + i), has_high = load(upper.there + i);
        const vec between = push * magnitude(high - low), most = push * (narrow - vec{});
        const auto margin = [&](vec bound, vec has_other) {
            const vec alone = push * larger(load(size + i), magnitude(bound));
            const vec within = ((between <= most) | (between < alone)) ? between : alone;
            return has_other > 0.0 ? within : alone;
        };
        vec here = load(v + i);
        here = has_low > 0.0 ? larger(here, low + margin(low, has_high)) : here;
        const vec highest = high - margin(high, has_low);
        here = ((has_high > 0.0) & (highest < here)) ? highest : here;
        store(v + i, here);
    }
}

// Entry i of v off a bound that it is on or beyond: by little, of the range where there are two.
inline void put_inside(const Program& program, int i, double* v) {
    constexpr double SHARE = 1e-3, LITTLE = 1e-6;
    const Bounds &low = program.lower, &high = program.upper;
    const bool both = low.there[i] != 0.0 && high.there[i] != 0.0;
    const double room = both ? SHARE * (high.bound[i] - low.bound[i]) : LITTLE * program.size[i];
    if (low.there[i] != 0.0 && !(v[i] > low.bound[i])) v[i] = low.bound[i] + room;
    if (high.there[i] != 0.0 && !(v[i] < high.bound[i])) v[i] = high.bound[i] - room;
}

}  // namespace trisweep
