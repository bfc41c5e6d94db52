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
        if (sum_of_sizes(program.size_y, point.y) != 0.0) program.add_transposed_product(point.y, residual);
        find_sizes(1.0);
    }

    // The same after a step whose direction solves a linear system: this share of every linear residual is left.
    void carry(double share) {
        for (int i = 0; i < program.size_v; i += W) store(residual + i, share * load(residual + i));
        find_sizes(0.0);
    }

    // The error (5) of the barrier problem with this mu; 0 is the problem itself.
    double error(double mu) const {
        const double products = mu == 0.0 ? complementarity : complementarity_error(program, mu);
        return std::max(
            {dual_infeasibility / scale_dual, infeasibility - lost_infeasibility, products / scale_complementarity});
    }

    // The error as a sum of means, in which no single entry hides the progress of the others.
    double mean_error() const {
        return residual_sum / std::max(1, program.variables) +
               sum_of_sizes(program.size_y, point.r) / std::max(1, program.rows) +
               product_sum / std::max(1, bound_count(program));
    }

private:
    static constexpr double LARGE = 100.0;  // mean size above which multipliers scale the error

    // Of the residual less so much of the bounds' multipliers, and of what else is in the error.
    void find_sizes(double share) {
        const Bounds &low = program.lower, &high = program.upper;
        vec duals{}, worst{}, products{}, most{}, sizes{};
        for (int i = 0; i < program.size_v; i += W) {
            const vec below = load(low.dual + i), above = load(high.dual + i);
            const vec slope = load(residual + i) - share * (below - above), size = load(program.size + i);
            const vec off = magnitude(slope) * size;
            store(residual + i, slope);
            most = larger(most, off), sizes += off, duals += (below + above) * size;
            const vec by_lower = load(low.gap + i) * below, by_upper = load(high.gap + i) * above;
            worst = larger(worst, larger(magnitude(by_lower), magnitude(by_upper))), products += by_lower + by_upper;
        }
        residual_sum = sum(sizes), product_sum = sum(products);
        const int bounds = bound_count(program);
        const double dual_sum = sum(duals), all = dual_sum + sum_of_sizes(program.size_y, point.y);
        scale_dual = std::max(LARGE, all / std::max(1, program.rows + bounds)) / LARGE;
        scale_complementarity = std::max(LARGE, dual_sum / std::max(1, bounds)) / LARGE;
        dual_infeasibility = largest(most);
        infeasibility = largest_size(program.size_y, point.r);
        lost_infeasibility = forgiving && point.within_rounding() ? infeasibility : 0.0;
        complementarity = largest(worst);
        if (!forgiving) scale_dual = scale_complementarity = 1.0;
    }

    const Iterate& point;
    const Program& program;
    Arena arena;
    double scale_dual = 1.0, scale_complementarity = 1.0;
    double lost_infeasibility = 0.0;               // what of it is rounding
    double residual_sum = 0.0, product_sum = 0.0;  // of sizes; of gap times multiplier
};

}  // namespace trisweep
