// Iterative refinement of directions by the residual of the whole system,
//
//     [ W + Sigma + delta   J' ] [ dv ]   [ h ]
//     [ J                   0  ] [ y  ] + [ r ]
//
// As bounds and slacks stiffen towards the end of a solve, the sweep's elimination may lose digits that this brings back.
// Where the residual is far below what matters it is not looked at again for a few directions: it grows slowly.
#pragma once

#include <algorithm>

#include "kernels.hpp"
#include "program.hpp"

namespace trisweep {

class Refinement {
public:
    explicit Refinement(const Program& program) {
        arena.build([&](Arena& a) {
            size_v = program.size_v, size_y = program.size_y;
            for (double** vector : {&residual_v, &better_v}) *vector = a.vector(size_v);
            for (double** vector : {&residual_y, &better_y}) *vector = a.vector(size_y);
        });
    }

    void reset() { unwatched = 0, ratio = 0.0; }

    // The direction of a new factorization. False where it is of no use: the system is as good as singular.
    bool direction(Program& program, const double* h, const double* r, double* dv, double* y) {
        program.direction(h, r, dv, y);
        if (unwatched-- > 0) return true;
        const double left = refine(program, h, r, dv, y);
        unwatched = ratio <= COMFORTABLE ? UNWATCHED : 0;
        return left <= SINGULAR;
    }

    // Another one of the same factorization, refined if the first one had to be.
    void direction_again(Program& program, const double* h, const double* r, double* dv, double* y) {
        program.direction(h, r, dv, y);
        if (ratio > ENOUGH) refine(program, h, r, dv, y);
    }

private:
    static constexpr double ENOUGH = 1e-10, COMFORTABLE = 1e-12, SINGULAR = 1e-5;  // relative residuals, see `measure`
    static constexpr int STEPS = 5, UNWATCHED = 3;

    // Returns the relative residual that is left; `ratio` keeps the one before refinement.
    double refine(Program& program, const double* h, const double* r, double* dv, double* y) {
        double present = ratio = measure(program, h, r, dv, y);
        for (int step = 0; step < STEPS && present > ENOUGH; ++step) {
            program.direction(residual_v, residual_y, better_v, better_y);
            for (int i = 0; i < size_v; ++i) better_v[i] += dv[i];
            for (int i = 0; i < size_y; ++i) better_y[i] += y[i];
            const double next = measure(program, h, r, better_v, better_y);
            if (!(next < present)) break;
            std::copy_n(better_v, size_v, dv);
            std::copy_n(better_y, size_y, y);
            present = next;
        }
        return present;
    }

    // The residual, left behind, and its size relative to right-hand side and direction.
    double measure(const Program& program, const double* h, const double* r, const double* dv, const double* y) {
        std::copy_n(h, size_v, residual_v);
        std::copy_n(r, size_y, residual_y);
        program.add_hessian_product(dv, residual_v);
        program.add_transposed_product(y, residual_v);
        program.add_product(dv, residual_y);
        const auto largest = [&](const double* along_v, const double* along_y) {
            return std::max(largest_size(size_v, along_v), largest_size(size_y, along_y));
        };
        const double error = largest(residual_v, residual_y), right = largest(h, r);
        return error == 0.0 ? 0.0 : error / (right + std::min(largest(dv, y), 1e6 * right));
    }

    Arena arena;
    int size_v = 0, size_y = 0, unwatched = 0;
    double ratio = 0.0;
    double *residual_v, *residual_y, *better_v, *better_y;
};

}  // namespace trisweep
