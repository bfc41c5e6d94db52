// What the interior point knows of a problem: a smooth program with bounds,
//
//     min f(v)   subject to   r(v) = 0,   lower <= v <= upper
//
//     [ W + Sigma + delta   J' ] [ dv ]       [ h ]
//     [ J                   0  ] [ y  ]  =  - [ r ]        W the Hessian of f + y'r
//
// and how its linear systems are solved. Vectors v and y are stored in the problem's own layout, with gaps that stay zero.
#pragma once

#include <cmath>

#include "arena.hpp"

namespace trisweep {

// The entries of v that have a lower (sign 1) or an upper bound (sign -1), their bounds and multipliers, and the distances
// to the bounds at the present point.
struct Bounds {
    double sign = 1.0;
    int count = 0;
    int* at = nullptr;
    double *bound = nullptr, *dual = nullptr, *step = nullptr, *gap = nullptr, *inverse = nullptr;

    // Set the gaps, and their inverses, to those at v.
    void refresh(const double* v) {
        for (int i = 0; i < count; ++i) gap[i] = sign * (v[at[i]] - bound[i]), inverse[i] = 1.0 / gap[i];
    }

    void lay_out(Arena& a, int room) {
        at = a.indices(room);
        for (double** vector : {&bound, &dual, &step, &gap, &inverse}) *vector = a.vector(room);
    }
};

class Program {
public:
    virtual ~Program() = default;

    int size_v = 0, size_y = 0;    // lengths of v and y, gaps included
    int variables = 0, rows = 0;   // without the gaps
    Bounds lower, upper;

    // Whatever depends on the bounds' gaps is asked of the point that was refreshed last.
    void refresh_gaps(const double* v) { lower.refresh(v), upper.refresh(v); }

    // f and r at v. False where a number is not finite.
    virtual bool evaluate(const double* v, double& f, double* r) = 0;
    // Gradient, J and W at (v, y). False where a number is not finite.
    virtual bool differentiate(const double* v, const double* y) = 0;
    // Change to coordinates whose origin is v, where v lies on a manifold.
    virtual void recentre(double*) {}
    virtual const double* gradient() const = 0;
    // out += J' y
    virtual void add_transposed_product(const double* y, double* out) const = 0;
    // W <- 0, for multipliers by least squares
    virtual void clear_hessian() = 0;
    // Take Sigma (size_v) in: comes once after `differentiate`.
    virtual void add_barrier(const double* sigma) = 0;
    // Factor with this delta on the diagonal. False where W + Sigma + delta is not positive definite on the null space of J.
    virtual bool factor(double delta) = 0;
    virtual void direction(const double* h, const double* r, double* dv, double* y) = 0;
    // out += (W + Sigma + delta) dv with the last delta, out += J dv: for the residual of a direction.
    virtual void add_hessian_product(const double* dv, double* out) const = 0;
    virtual void add_product(const double* dv, double* out) const = 0;
};

}  // namespace trisweep
