// What the interior point knows of a problem: a smooth program with bounds,
//
//     min f(v)   subject to   r(v) = 0,   lower <= v <= upper
//
//     [ W + Sigma + delta      J'    ] [ dv ]       [ h ]
//     [ J                   -delta_c ] [ y  ]  =  - [ r ]        W the Hessian of f + y'r
//
// and how its linear systems are solved. Vectors v and y are stored in the problem's own layout, with gaps that stay zero.
#pragma once

#include <cmath>

#include "kernels/arena.hpp"

namespace trisweep {

// The lower (sign 1) or the upper bounds (sign -1) of v, their multipliers, and the distances to them at the present point.
// Along all of v: entries without a bound have `there` 0, a gap of 1 and zeros elsewhere.
struct Bounds {
    double sign = 1.0;
    int size = 0, count = 0;  // of v; of the bounds
    double *there = nullptr, *bound = nullptr, *dual = nullptr, *step = nullptr, *gap = nullptr, *inverse = nullptr;
    double* correction = nullptr;  // by which gap times multiplier is aimed below mu, where the program is `corrected`

    // The gaps at v from entry i on.
    vec gaps(const double* v, int i) const {
        const vec t = load(there + i);
        return t * (sign * (load(v + i) - load(bound + i))) + (1.0 - t);
    }

    // Set the gaps, and their inverses, to those at v.
    void refresh(const double* v) {
        for (int i = 0; i < size; i += W) {
            const vec here = gaps(v, i);
            store(gap + i, here), store(inverse + i, load(there + i) / here);
        }
    }

    void set(int i, bool is_there, double value) {
        there[i] = is_there, bound[i] = is_there ? value : 0.0;
        dual[i] = step[i] = inverse[i] = 0.0, gap[i] = 1.0;
        count += is_there;
    }

    // All of them, infinite where there is none.
    void set(const double* values) {
        vec found{};
        for (int i = 0; i < size; i += W) {
            const vec value = load(values + i), none{};
            const vec is_there = sign * value > -INFINITY ? 1.0 - none : none;
            store(there + i, is_there), store(bound + i, is_there > 0.0 ? value : none);
            for (double* zero : {dual, step, inverse}) store(zero + i, vec{});
            store(gap + i, 1.0 - vec{});
            found += is_there;
        }
        count = int(sum(found));
    }

    void lay_out(Arena& a, int room) {
        size = room;
        for (double** vector : {&there, &bound, &dual, &step, &gap, &inverse, &correction}) *vector = a.vector(room);
    }
};

class Program {
public:
    virtual ~Program() = default;

    int size_v = 0, size_y = 0;   // lengths of v and y, gaps included
    int variables = 0, rows = 0;  // without the gaps
    int size_place = 0;
    Bounds lower, upper;
    double* size = nullptr;    // (size_v) how large each variable is: what counts as 1 of it
    double* unit = nullptr;    // (size_v) what each is given in
    bool convex = false;       // known to be a convex quadratic program
    bool curved_cost = false;  // known to have an f that curves up in every direction
    bool damps = false;        // `damp` is likely to be asked for after `differentiate`
    bool spares = false;       // a delta leaves alone what has enough curvature of its own
    bool corrected = false;    // the corrections of its bounds count (barrier.hpp)

    // Whatever depends on the bounds' gaps is asked of the point that was refreshed last.
    void refresh_gaps(const double* v) { lower.refresh(v), upper.refresh(v); }

    // f and r at v. False where a number is not finite.
    virtual bool evaluate(const double* v, double& f, double* r) = 0;
    // Gradient, J and W at (v, y). False where a number is not finite.
    virtual bool differentiate(const double* v, const double* y) = 0;
    // W there with this share of the curvature of r, and of so much of that of f as comes from equations that are solved inside
    // of it. False likewise.
    virtual bool damp(const double* v, double share) = 0;
    // The sizes of the terms that are summed into all rows at v, added up, by the J that was computed last.
    virtual double row_terms(const double* v) const = 0;
    // By what f is scaled beside its statement, and that times a factor: derivatives are asked for anew then.
    virtual double cost_scale() const { return 1.0; }
    virtual void scale_cost(double /* factor */) {}
    // Change to coordinates whose origin is v, where v lies on a manifold.
    virtual void recentre(double*) {}
    // The coordinates themselves (size_place), for who wants to come back to a point in them.
    virtual void copy_place(double*) const {}
    virtual void set_place(const double*) {}
    virtual const double* gradient() const = 0;
    // out += J' y
    virtual void add_transposed_product(const double* y, double* out) const = 0;
    // W <- 0, for multipliers by least squares
    virtual void clear_hessian() = 0;
    // Take Sigma (size_v) in, in place of the last one: comes before `factor`.
    virtual void take_sigma(const double* sigma) = 0;
    // Factor with this delta on the diagonal, and this delta_c where J has lost rank. False where W + Sigma + delta is not
    // positive definite on the null space of J.
    virtual bool factor(double delta, double delta_c) = 0;
    // Where h is the gradient of the Lagrangian, y is a step of its multipliers.
    virtual void direction(const double* h, const double* r, double* dv, double* y) = 0;
    // The same without what of y may wait: `complete` adds it to the last direction. `same_rows`: r is that of the direction
    // before.
    virtual void turn(const double* h, const double* r, bool /* same_rows */, double* dv, double* y) {
        direction(h, r, dv, y);
    }
    virtual void complete(const double* /* dv */, double* /* y */) {}
    // out += (W + Sigma + delta) dv with the last delta, out += J dv, out -= delta_c y: for the residual of a direction.
    virtual void add_hessian_product(const double* dv, double* out) const = 0;
    virtual void add_product(const double* dv, double* out) const = 0;
    virtual void subtract_softness(const double*, double*) const {}
};

}  // namespace trisweep
