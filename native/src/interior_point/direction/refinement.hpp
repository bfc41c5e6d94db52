// Refinement of directions by the residual of the whole system,
//
//     [ W + Sigma + delta      J'    ] [ dv ]   [ h ]
//     [ J                   -delta_c ] [ y  ] + [ r ]
//
// with the sweep as preconditioner of the method of generalized conjugate residuals (Eisenstat, Elman and Schultz 1983), whose
// steps p and their products q = A p are kept orthonormal in q. As bounds and slacks stiffen towards the end of a solve, the
// sweep's elimination may lose digits that this brings back. Where the residual is far below what matters it is not looked at
// again for a few directions: it grows slowly.
#pragma once

#include <algorithm>
#include <array>

#include "interior_point/program.hpp"
#include "kernels/vector.hpp"

namespace trisweep {

class Refinement {
public:
    explicit Refinement(const Program& program) : unit(program.unit) {
        arena.build([&](Arena& a) {
            size_v = program.size_v, size_y = program.size_y;
            residual = pair(a);
            for (int i = 0; i < STEPS; ++i) p[i] = pair(a), q[i] = pair(a);
        });
    }

    void reset() { unwatched = 0, ratio = 0.0; }

    // The direction of a new factorization. False where it is of no use: the system is as good as singular. `same_rows`: as the
    // program's `turn` has it.
    bool direction(Program& program, const double* h, const double* r, double* dv, double* y, bool same_rows = false) {
        program.turn(h, r, same_rows, dv, y);
        program.complete(dv, y);
        if (unwatched-- > 0) return true;
        const double left = refine(program, h, r, {dv, y});
        unwatched = ratio <= COMFORTABLE ? UNWATCHED : 0;
        return left <= SINGULAR;
    }

    // The same but for what of y may wait until `complete`.
    bool lead(Program& program, const double* h, const double* r, double* dv, double* y) {
        waits = unwatched > 0;
        if (!waits) return direction(program, h, r, dv, y);
        --unwatched;
        program.turn(h, r, false, dv, y);
        return true;
    }

    // Another one of the same factorization and the same rows, likewise; refined if the first one had to be.
    void turn(Program& program, const double* h, const double* r, double* dv, double* y) {
        waits = ratio <= ENOUGH;
        if (waits)
            program.turn(h, r, true, dv, y);
        else
            direction_again(program, h, r, dv, y);
    }

    // The last direction becomes a whole one.
    void complete(Program& program, const double* dv, double* y) {
        if (waits) program.complete(dv, y);
        waits = false;
    }

    // The last direction is not wanted.
    void leave() { waits = false; }

    // Whether a full step along a direction leaves nothing of a linear residual but rounding.
    bool precise() const { return ratio <= PRECISE; }

    // Another one of the same factorization, refined if the first one had to be.
    void direction_again(Program& program, const double* h, const double* r, double* dv, double* y) {
        program.direction(h, r, dv, y);
        if (ratio > ENOUGH) refine(program, h, r, {dv, y});
    }

private:
    static constexpr double ENOUGH = 1e-8, COMFORTABLE = 1e-10, SINGULAR = 0.1;  // residuals, relative as in `refine`
    static constexpr double PRECISE = 1e-12;
    static constexpr double USEFUL =
        1e-6;  // share of a residual that a step has to reach: where rows contradict, less is rounding
    static constexpr int STEPS = 8, UNWATCHED = 3;

    struct Pair {
        double *v, *y;
    };

    Pair pair(Arena& a) const { return {a.vector(size_v), a.vector(size_y)}; }

    // Returns the residual that is left, relative to right-hand side and direction; `ratio` keeps the one before.
    double refine(Program& program, const double* h, const double* r, Pair x) {
        std::copy_n(h, size_v, residual.v);
        std::copy_n(r, size_y, residual.y);
        add_product(program, x, residual);
        const double right = largest_right({const_cast<double*>(h), const_cast<double*>(r)});
        const auto relative = [&] {
            const double error = largest_right(residual);
            return error == 0.0 ? 0.0 : error / (right + std::min(largest(x), 1e6 * right));
        };
        double present = ratio = relative();
        for (int k = 0; k < STEPS && present > ENOUGH; ++k) {
            program.direction(residual.v, residual.y, p[k].v, p[k].y);
            std::fill_n(q[k].v, size_v, 0.0);
            std::fill_n(q[k].y, size_y, 0.0);
            add_product(program, p[k], q[k]);
            for (int i = 0; i < k; ++i) {
                const double along = dot(q[k], q[i]);
                add(-along, q[i], q[k]);
                add(-along, p[i], p[k]);
            }
            const double size = std::sqrt(dot(q[k], q[k]));
            if (!(size > USEFUL * std::sqrt(dot(residual, residual))) || !(size <= 1e300)) break;
            add(1.0 / size - 1.0, q[k], q[k]);
            add(1.0 / size - 1.0, p[k], p[k]);
            const double length = -dot(residual, q[k]);
            add(length, p[k], x);
            add(length, q[k], residual);
            present = relative();
        }
        return present;
    }

    static void add_product(const Program& program, Pair x, Pair out) {
        program.add_hessian_product(x.v, out.v);
        program.add_transposed_product(x.y, out.v);
        program.add_product(x.v, out.y);
        program.subtract_softness(x.y, out.y);
    }

    // Of right-hand sides and residuals.
    double dot(Pair a, Pair b) const {
        return sum_over(size_v,
                        [=, this](int i) {
                            const vec here = load(unit + i);
                            return here * load(a.v + i) * (here * load(b.v + i));
                        }) +
               sum_over(size_y, [=](int i) { return load(a.y + i) * load(b.y + i); });
    }

    void add(double factor, Pair from, Pair to) const {
        for (int i = 0; i < size_v; i += W) store(to.v + i, load(to.v + i) + factor * load(from.v + i));
        for (int i = 0; i < size_y; i += W) store(to.y + i, load(to.y + i) + factor * load(from.y + i));
    }

    double largest_right(Pair a) const {
        return std::max(largest_over(size_v, [=, this](int i) { return magnitude(load(unit + i) * load(a.v + i)); }),
                        largest_size(size_y, a.y));
    }
    double largest(Pair x) const {
        return std::max(largest_over(size_v, [=, this](int i) { return magnitude(load(x.v + i) / load(unit + i)); }),
                        largest_size(size_y, x.y));
    }

    Arena arena;
    double* const& unit;  // of the program's variables: a slope is one along so much of them
    int size_v = 0, size_y = 0, unwatched = 0;
    double ratio = 0.0;
    bool waits = false;  // the last direction is not whole
    Pair residual;
    std::array<Pair, STEPS> p, q;
};

}  // namespace trisweep
