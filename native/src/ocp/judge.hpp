// The KKT conditions of a problem at a point, computed again from the compiled functions, apart from the solver, where no
// Python is at hand: in plain vectors, in the units of the statement, by nothing that the solver chose. `ocp/solve/kkt.py` states the conditions and
// computes the same through CasADi alone.
//
//     minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `Result`)
//     stationarity    f'(z) + g'(z)' y + w = 0
//     complementarity y, w > 0 only on an upper limit, < 0 only on a lower one
//
// and each relative to the size of the terms that are summed there: of a row |g'| |z| + |g - g' z|, of a slope
// |f'| + |g'|' |y| + |w|, at least 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "structure.hpp"

namespace trisweep {

// The largest entry of every condition.
struct Conditions {
    double stationarity = 0.0, dynamics = 0.0, equalities = 0.0, inequalities = 0.0, bounds = 0.0,
           complementarity = 0.0;

    // NaN where one is.
    double worst() const {
        double most = 0.0;
        for (double each : {stationarity, dynamics, equalities, inequalities, bounds, complementarity})
            if (!(each <= most)) most = std::isnan(most) ? most : each;
        return most;
    }
};

struct Verdict {
    double objective = 0.0;
    Conditions residual, relative;  // in the units of the statement; of the terms summed there
};

class Judge {
public:
    explicit Judge(const Structure& s) : structure(s) {
        const std::size_t stages = s.nx.size();
        for (std::vector<std::size_t>* places : {&at_z, &at_dynamics, &at_equality, &at_inequality})
            places->resize(stages + 1);
        for (std::size_t k = 0; k < stages; ++k) {
            at_z[k + 1] = at_z[k] + s.nu[k] + s.nx[k];
            at_dynamics[k + 1] = at_dynamics[k] + (s.parent[k] < 0 ? 0 : s.nx[k]);
        }
        at_equality[0] = at_dynamics[stages];
        for (std::size_t k = 0; k < stages; ++k) at_equality[k + 1] = at_equality[k] + s.equalities[k];
        at_inequality[0] = at_equality[stages];
        for (std::size_t k = 0; k < stages; ++k) at_inequality[k + 1] = at_inequality[k] + s.inequalities[k];
        for (std::vector<double>* vector : {&slope, &slope_size}) vector->resize(at_z[stages]);
        for (std::vector<double>* vector : {&g, &row_size}) vector->resize(at_inequality[stages]);
        fixed.resize(at_z[stages]);
        for (int entry : s.fixed) fixed[std::size_t(s.nu[0] + entry)] = true;
        z_low.assign(at_z[stages], -INFINITY);
        z_high.assign(at_z[stages], INFINITY);
        const std::size_t inequalities = at_inequality[stages] - at_inequality[0];
        c_low.assign(inequalities, -INFINITY);
        c_high.assign(inequalities, INFINITY);
        std::size_t rows = 0, widest = 0, jacobian = 0, hessian = 0;
        for (const Block& b : s.blocks) {
            const std::size_t count = b.count;
            rows = std::max(rows, count * b.rows());
            widest = std::max(widest, std::size_t(b.rows()));
            jacobian = std::max(jacobian, count * b.jacobian_rows.size());
            hessian = std::max(hessian, count * b.hessian_rows.size());
        }
        block_rows.resize(rows);
        weights.resize(rows);
        along.resize(2 * widest);
        block_jacobian.resize(jacobian);
        block_hessian.resize(hessian);
        for (const Block& b : structure.blocks) calls.emplace_back(b);
    }

    void set_bounds(std::span<const double> z_lower, std::span<const double> z_upper, std::span<const double> c_lower,
                    std::span<const double> c_upper) {
        std::copy(z_lower.begin(), z_lower.end(), z_low.begin());
        std::copy(z_upper.begin(), z_upper.end(), z_high.begin());
        std::copy(c_lower.begin(), c_lower.end(), c_low.begin());
        std::copy(c_upper.begin(), c_upper.end(), c_high.begin());
    }

    // NaN in a condition where a function is not finite.
    Verdict measure(const double* z, const double* y, const double* w, const double* shared,
                    const double* stage_parameters) {
        for (std::vector<double>* vector : {&slope, &slope_size, &g, &row_size})
            std::fill(vector->begin(), vector->end(), 0.0);
        Verdict verdict;
        for (const Block& block : structure.blocks) verdict.objective += add(block, z, y, shared, stage_parameters);
        subtract_children(z, y);
        const double objective = std::max(1.0, std::fabs(verdict.objective));
        for (std::size_t i = 0; i < slope.size(); ++i) {
            note(fixed[i] ? 0.0 : std::fabs(slope[i] + w[i]), slope_size[i] + std::fabs(w[i]), verdict,
                 &Conditions::stationarity);
            note(outside(z[i], z_low[i], z_high[i]), std::fabs(z[i]), verdict, &Conditions::bounds);
            complement(z[i], w[i], z_low[i], z_high[i], std::fabs(z[i]), objective, verdict);
        }
        const std::size_t equalities = at_equality[0], inequalities = at_inequality[0];
        for (std::size_t i = 0; i < inequalities; ++i)
            note(std::fabs(g[i]), row_size[i], verdict,
                 i < equalities ? &Conditions::dynamics : &Conditions::equalities);
        for (std::size_t i = inequalities; i < g.size(); ++i) {
            const double low = c_low[i - inequalities], high = c_high[i - inequalities];
            note(outside(g[i], low, high), row_size[i], verdict, &Conditions::inequalities);
            complement(g[i], y[i], low, high, row_size[i], objective, verdict);
        }
        return verdict;
    }

private:
    // A block's part of rows and slopes, with the sizes of their terms; gives its part of the objective.
    double add(const Block& block, const double* z, const double* y, const double* shared,
               const double* stage_parameters) {
        const int rows = block.rows(), n = structure.nu[block.first] + structure.nx[block.first];
        const std::size_t entries = block.jacobian_rows.size();
        for (int k = 0; k < block.count; ++k) {
            double* weight = weights.data() + std::ptrdiff_t(k) * rows;
            if (block.objective) *weight++ = 1.0;
            each_row(block, k, [&](std::size_t row) { *weight++ = y[row]; });
        }
        const double* here = z + at_z[block.first];
        const double* inputs[] = {here,
                                  here + structure.nu[block.first],
                                  shared + block.at_shared,
                                  stage_parameters + block.at_stage,
                                  stage_parameters + block.at_child,
                                  weights.data()};
        const std::int64_t strides[] = {n, n, 0, block.stage_stride, block.child_stride, rows};
        BlockCalls& functions = calls[std::size_t(&block - structure.blocks.data())];
        functions.values(inputs, strides, block_rows.data(), block.count);
        functions.derivatives(inputs, strides, block_jacobian.data(), block_hessian.data(), block.count);
        double objective = 0.0;
        for (int k = 0; k < block.count; ++k) {
            const double* value = block_rows.data() + std::ptrdiff_t(k) * rows;
            if (block.objective) objective += value[0];
            measure_slopes(block, k, here + std::ptrdiff_t(k) * n, block_jacobian.data() + k * entries);
            std::size_t r = block.objective;
            each_row(block, k, [&](std::size_t row) {
                g[row] = value[r];
                row_size[row] = along[2 * r + 1] + std::fabs(value[r] - along[2 * r]);
                ++r;
            });
        }
        return objective;
    }

    // Slopes of the weighted sum at the k-th stage; into `along` of each row its linear terms' sum and size.
    void measure_slopes(const Block& block, int k, const double* z, const double* jacobian) {
        std::fill(along.begin(), along.end(), 0.0);
        const double* weight = weights.data() + std::ptrdiff_t(k) * block.rows();
        const std::size_t at = at_z[block.first + k];
        for (std::size_t t = 0; t < block.jacobian_rows.size(); ++t) {
            const int row = block.jacobian_rows[t], column = block.jacobian_columns[t];
            const double term = jacobian[t] * z[column], across = jacobian[t] * weight[row];
            along[2 * row] += term;
            along[2 * row + 1] += std::fabs(term);
            slope[at + column] += across;
            slope_size[at + column] += std::fabs(across);
        }
    }

    // x of a stage stands in its parent's rows F - x.
    void subtract_children(const double* z, const double* y) {
        for (std::size_t k = 0; k < structure.nx.size(); ++k) {
            if (structure.parent[k] < 0) continue;
            for (int i = 0; i < structure.nx[k]; ++i) {
                const std::size_t x = at_z[k] + structure.nu[k] + i, row = at_dynamics[k] + i;
                g[row] -= z[x];
                row_size[row] += std::fabs(z[x]);
                slope[x] -= y[row];
                slope_size[x] += std::fabs(y[row]);
            }
        }
    }

    // visit(place in y) for the rows of a block at its k-th stage, in their order, but for the objective.
    template <class Visit>
    void each_row(const Block& block, int k, const Visit& visit) const {
        const int stage = block.first + k;
        for (int r = 0; r < block.dynamics; ++r) visit(at_dynamics[block.child + k] + r);
        for (int r = 0; r < block.equalities; ++r) visit(at_equality[stage] + block.at_equality + r);
        for (int r = 0; r < block.inequalities; ++r) visit(at_inequality[stage] + block.at_inequality + r);
    }

    static double outside(double value, double low, double high) {
        return std::isnan(value) ? value : std::max({low - value, value - high, 0.0});
    }

    // A maximum that keeps NaN.
    static void raise(double& most, double value) {
        if (!(value <= most)) most = std::isnan(most) ? most : value;
    }

    static void note(double error, double size, Verdict& verdict, double Conditions::* part) {
        raise(verdict.residual.*part, error);
        raise(verdict.relative.*part, error / std::max(1.0, size));
    }

    // |multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none; a value
    // right on its limit is complementary whatever presses it there.
    static void complement(double value, double multiplier, double low, double high, double size, double objective,
                           Verdict& verdict) {
        const double gap = std::max(multiplier > 0.0 ? high - value : value - low, 0.0);
        const double product = std::fabs(multiplier) * std::min(gap, 1.0);
        raise(verdict.residual.complementarity, product);
        raise(verdict.relative.complementarity, std::min(product / objective, gap / std::max(1.0, size)));
    }

    Structure structure;
    std::vector<std::size_t> at_z, at_dynamics, at_equality, at_inequality;  // of each stage: in z; its rows in y
    std::vector<double> z_low, z_high, c_low, c_high;
    std::vector<double> slope, slope_size, g, row_size;
    std::vector<char> fixed;  // entries of z that are given
    std::vector<double> block_rows, weights, along, block_jacobian, block_hessian;
    std::vector<BlockCalls> calls;  // of each block
};

}  // namespace trisweep
