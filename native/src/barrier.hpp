// The logarithmic barrier of a program's bounds, and the primal-dual steps of their multipliers.
// Letters of Wächter and Biegler 2006: mu, Sigma, tau, alpha.
#pragma once

#include <algorithm>
#include <cmath>

#include "program.hpp"

namespace trisweep {

// - mu sum log(gap) at any v: the logarithm of a product of several gaps at a time
inline double barrier_value(const Program& program, const double* v, double mu) {
    constexpr int TOGETHER = 8;
    double value = 0.0;
    for (const Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; i += TOGETHER) {
            double product = 1.0;
            for (int k = i; k < std::min(i + TOGETHER, b->count); ++k) product *= b->sign * (v[b->at[k]] - b->bound[k]);
            value -= std::log(product);
        }
    return mu * value;
}

// h += gradient of the barrier, sigma = its primal-dual curvature
inline void add_barrier_terms(const Program& program, double mu, double* h, double* sigma) {
    std::fill_n(sigma, program.size_v, 0.0);
    for (const Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; ++i) {
            h[b->at[i]] -= b->sign * mu * b->inverse[i];
            sigma[b->at[i]] += b->dual[i] * b->inverse[i];
        }
}

// Steps of the bounds' multipliers that go with dv.
inline void find_dual_steps(Program& program, const double* dv, double mu) {
    for (Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; ++i)
            b->step[i] = b->inverse[i] * (mu - b->dual[i] * b->sign * dv[b->at[i]]) - b->dual[i];
}

// The largest step in (0, 1] that keeps the share 1 - tau of every gap.
inline double largest_primal_step(const Program& program, const double* dv, double tau) {
    double fastest = tau;
    for (const Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; ++i) fastest = std::max(fastest, -b->sign * dv[b->at[i]] * b->inverse[i]);
    return tau / fastest;
}

inline double largest_dual_step(const Program& program, double tau) {
    double fastest = tau;
    for (const Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; ++i) fastest = std::max(fastest, -b->step[i] / b->dual[i]);
    return tau / fastest;
}

// Take the step, and keep Sigma within a factor of the primal barrier's curvature at the new point (eq. 16).
inline void take_dual_steps(Program& program, double alpha, double mu) {
    constexpr double FACTOR = 1e10;
    for (Bounds* b : {&program.lower, &program.upper})
        for (int i = 0; i < b->count; ++i) {
            const double primal = mu * b->inverse[i];
            b->dual[i] = std::clamp(b->dual[i] + alpha * b->step[i], primal / FACTOR, primal * FACTOR);
        }
}

// Move v inside its bounds by `push`, relative to the size of the bound and of the distance between the two (Sec. 3.6).
inline void push_inside(const Program& program, double push, double* v, double* other_gap) {
    std::fill_n(other_gap, program.size_v, INFINITY);
    for (int i = 0; i < program.upper.count; ++i) other_gap[program.upper.at[i]] = program.upper.bound[i];
    for (int i = 0; i < program.lower.count; ++i) {
        const int at = program.lower.at[i];
        const double bound = program.lower.bound[i];
        double margin = push * std::max(1.0, std::fabs(bound));
        if (other_gap[at] < INFINITY) margin = std::min(margin, push * (other_gap[at] - bound));
        v[at] = std::max(v[at], bound + margin);
    }
    std::fill_n(other_gap, program.size_v, -INFINITY);
    for (int i = 0; i < program.lower.count; ++i) other_gap[program.lower.at[i]] = program.lower.bound[i];
    for (int i = 0; i < program.upper.count; ++i) {
        const int at = program.upper.at[i];
        const double bound = program.upper.bound[i];
        double margin = push * std::max(1.0, std::fabs(bound));
        if (other_gap[at] > -INFINITY) margin = std::min(margin, push * (bound - other_gap[at]));
        v[at] = std::min(v[at], bound - margin);
    }
}

}  // namespace trisweep
