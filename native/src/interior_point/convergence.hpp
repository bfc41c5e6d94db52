// How far an iterate is from a solution of the barrier problem: the KKT error of Wächter and Biegler 2006, eq. 5 and 6.
#pragma once

#include <algorithm>

#include "iterate.hpp"

namespace trisweep {

class Convergence {
public:
    explicit Convergence(const Iterate& point) : point(point), program(point.program) {
        arena.build([this](Arena& a) { residual = a.vector(program.size_v); });
    }

    double* residual;  // gradient of the Lagrangian, with the bounds' multipliers
    double infeasibility = 0.0, dual_infeasibility = 0.0, complementarity = 0.0;  // largest entries
    bool forgiving = true;  // whether large multipliers loosen the error, as in (6), and rounding of large rows does

    // The parts of the error. Comes after `differentiate`.
    void measure() {
        std::copy_n(program.gradient(), program.size_v, residual);
        program.add_transposed_product(point.y, residual);
        subtract_duals(program, residual);
        find_sizes();
    }

    // The same after a step whose direction solves a linear system: this share of every linear residual is left.
    void carry(double share) {
        for (int i = 0; i < program.size_v; i += W) store(residual + i, share * load(residual + i));
        find_sizes();
    }

    // The error (5) of the barrier problem with this mu; 0 is the problem itself.
    double error(double mu) const {
        const double products = mu == 0.0 ? complementarity : complementarity_error(program, mu);
        return std::max(
            {dual_infeasibility / scale_dual, infeasibility - lost_infeasibility, products / scale_complementarity});
    }

    // The error as a sum of means, in which no single entry hides the progress of the others.
    double mean_error() const {
        return sum_of_sizes(program.size_v, residual) / std::max(1, program.variables) +
               sum_of_sizes(program.size_y, point.r) / std::max(1, program.rows) + mean_complementarity(program);
    }

private:
    static constexpr double LARGE = 100.0;  // mean size above which multipliers scale the error

    void find_sizes() {
        vec duals{}, products{};
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; i += W) {
                const vec dual = load(b->dual + i);
                duals += dual, products = larger(products, magnitude(load(b->gap + i) * dual));
            }
        const int bounds = bound_count(program);
        const double dual_sum = sum(duals), all = dual_sum + sum_of_sizes(program.size_y, point.y);
        scale_dual = std::max(LARGE, all / std::max(1, program.rows + bounds)) / LARGE;
        scale_complementarity = std::max(LARGE, dual_sum / std::max(1, bounds)) / LARGE;
        dual_infeasibility = largest_size(program.size_v, residual);
        infeasibility = largest_size(program.size_y, point.r);
        lost_infeasibility = forgiving && point.within_rounding() ? infeasibility : 0.0;
        complementarity = largest(products);
        if (!forgiving) scale_dual = scale_complementarity = 1.0;
    }

    const Iterate& point;
    const Program& program;
    Arena arena;
    double scale_dual = 1.0, scale_complementarity = 1.0;
    double lost_infeasibility = 0.0;  // what of it is rounding
};

}  // namespace trisweep
