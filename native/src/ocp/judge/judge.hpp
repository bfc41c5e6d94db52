// The KKT conditions of a problem at a point, computed again from the compiled functions, apart from the solver: in plain
// vectors, in the units of the statement, by nothing that the solver chose. `ocp/judge` computes the same through CasADi alone.
//
//     minimise f(z)   with   l <= g(z) <= h : y   and   zl <= z <= zh : w        (vectors as in `Result`)
//     stationarity    f'(z) + g'(z)' y + w = 0                 H = f'' + y g''
//     complementarity y, w > 0 only on an upper limit, < 0 only on a lower one
// What is beyond soft limits costs its price: y is that there, and no more on either side of it.
//
// Each is measured relative to the terms that are summed there, at the point itself, so that no change of units (of the
// cost, of a variable, of a row) changes the verdict:
//     a row     |g'| |z| + |g - g' z|
//     a slope   |f'| + |g'|' |y| + |w| + |H| |z|
//     a product of multiplier and gap   C, the cost's scale: the sum of |f' z|, or of |f| where that is less
// Terms may all be zero at a solution (a motion that ends at rest at the origin). What they are small against is then
//     L   the largest |z| of the same variable on any stage
//     N   the size of a variable that would be a term like the others in all its rows
//     Z   L, at least SMALL of 1, or of N or the largest |z| of all, whichever is less: beside what has other units nothing counts
//     a row     SMALL |g'| Z, Z at least NOTICED of the largest of all and of 1: functions have terms inside that are not
//               seen here, but rounded
//     C         the largest of SMALL times the products of a slope's terms, but |H| |z|, and its variable, of H (SMALL N)^2, and of
//               ROUNDED |f|
//     a slope   that / Z
//     a limit   Z, of a row |g'| Z + |g - g' z|: it may be loosened by the tolerance everywhere
// Rows and limits are compared with more than their own terms, and L, only where an error of that size moves the cost by no more
// than the tolerance of C.
// A cost without slopes has no scale: every point that meets the rows is a solution, and C and its slopes count as 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "ocp/stages/column_runs.hpp"
#include "ocp/stages/structure.hpp"
#include "verdict.hpp"

namespace trisweep {

class Judge {
public:
    Judge(const Judge&) = delete;
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
        for (std::vector<double>* vector : {&slope, &slope_size, &bent, &reach, &bound_size, &matters, &curvature})
            vector->resize(at_z[stages]);
        for (std::vector<double>* vector : {&g, &row_size, &row_reach, &row_span})
            vector->resize(at_inequality[stages]);
        z_low.assign(at_z[stages], -INFINITY);
        z_high.assign(at_z[stages], INFINITY);
        const std::size_t inequalities = at_inequality[stages] - at_inequality[0];
        c_low.assign(inequalities, -INFINITY);
        c_high.assign(inequalities, INFINITY);
        if (structure.variables.empty()) {
            structure.variables.resize(at_z[stages]);
            std::iota(structure.variables.begin(), structure.variables.end(), 0);
        }
        int variables = 0;
        for (int variable : structure.variables) variables = std::max(variables, variable + 1);
        largest.resize(std::size_t(variables));
        natural.resize(std::size_t(variables));
        least_reach.resize(std::size_t(variables));
        std::size_t rows = 0, most_rows = 0, widest = 0, jacobian = 0, hessian = 0;
        for (const Block& b : s.blocks) {
            const std::size_t count = b.count;
            rows = std::max(rows, count * b.rows());
            most_rows = std::max(most_rows, std::size_t(b.rows()));
            widest = std::max(widest, std::size_t(s.nu[b.first] + s.nx[b.first]));
            at_jacobian.push_back(jacobian);
            jacobian += count * b.jacobian_rows.size();
            hessian = std::max(hessian, count * b.hessian_rows.size());
        }
        block_rows.resize(rows);
        weights.resize(rows);
        terms.resize(most_rows);
        places.resize(most_rows);
        size_here.resize(widest);
        turned.resize(largest.size());
        for (int turn : structure.turns) turned[std::size_t(turn)] = true;
        fixed.resize(at_z[stages]);
        for (int entry : structure.fixed) fixed[std::size_t(s.nu[0] + entry)] = true;
        jacobians.resize(jacobian);
        block_hessian.resize(hessian);
        for (const Block& b : structure.blocks) {
            calls.emplace_back(b);
            runs.push_back({column_runs(b.jacobian_columns), column_runs(b.hessian_columns)});
        }
    }

    // What was measured last: the rows' values, the slopes of f + y g, and the sizes that errors were compared with.
    std::vector<double> g, slope;
    std::vector<double> row_size, bound_size;  // of a row; of a limit of z
    double cost = 1.0;                         // C

    void set_bounds(std::span<const double> z_lower, std::span<const double> z_upper, std::span<const double> c_lower,
                    std::span<const double> c_upper) {
        std::copy(z_lower.begin(), z_lower.end(), z_low.begin());
        std::copy(z_upper.begin(), z_upper.end(), z_high.begin());
        std::copy(c_lower.begin(), c_lower.end(), c_low.begin());
        std::copy(c_upper.begin(), c_upper.end(), c_high.begin());
    }

    // By how much a row, or a value of z, is off; of the rows, as measured last.
    double error_of_row(std::size_t i) const {
        if (i < at_inequality[0]) return std::fabs(g[i]);
        if (is_soft(i - at_inequality[0])) return 0.0;
        return outside(g[i], c_low[i - at_inequality[0]], c_high[i - at_inequality[0]]);
    }
    double error_of_bound(std::size_t i, double value) const { return outside(value, z_low[i], z_high[i]); }

    // NaN in a condition where a function is not finite.
    Verdict measure(const double* z, const double* y, const double* w, const double* shared,
                    const double* stage_parameters) {
        for (std::vector<double>* vector :
             {&slope, &slope_size, &bent, &curvature, &g, &row_size, &row_reach, &row_span})
            std::fill(vector->begin(), vector->end(), 0.0);
        std::fill(matters.begin(), matters.end(), INFINITY);
        Verdict verdict;
        measure_largest(z);
        cost_terms = cost_size = 0.0;
        costless = true;
        for (const Block& block : structure.blocks) verdict.objective += add(block, z, y, shared, stage_parameters);
        subtract_children(z, y);
        measure_reach();
        for (std::size_t i = 0; i < structure.price.size(); ++i) verdict.objective += cost_of_excess(i);
        measure_cost(w);
        for (std::size_t i = 0; i < slope.size(); ++i) {
            const double size = slope_size[i] + std::fabs(w[i]);
            verdict.note(&Conditions::stationarity, fixed[i] ? 0.0 : std::fabs(slope[i] + w[i]),
                         std::max(size, costless ? 1.0 : least_cost / reach[i]));
            bound_size[i] = size_of_limit(largest[std::size_t(structure.variables[i])], reach[i], w[i]);
            verdict.note(&Conditions::bounds, outside(z[i], z_low[i], z_high[i]), bound_size[i]);
            complement(z[i], w[i], z_low[i], z_high[i], bound_size[i], verdict);
        }
        const std::size_t equalities = at_equality[0], inequalities = at_inequality[0];
        for (std::size_t i = 0; i < inequalities; ++i) {
            row_size[i] = size_of_row(i, std::fabs(g[i]), y[i]);
            verdict.note(i < equalities ? &Conditions::dynamics : &Conditions::equalities, std::fabs(g[i]),
                         row_size[i]);
        }
        for (std::size_t i = inequalities; i < g.size(); ++i) {
            const double low = c_low[i - inequalities], high = c_high[i - inequalities];
            row_size[i] = size_of_limit(std::max(row_size[i], row_span[i]), row_reach[i], y[i]);
            if (is_soft(i - inequalities))
                complement_price(i - inequalities, y[i], row_size[i], verdict);
            else
                verdict.note(&Conditions::inequalities, outside(g[i], low, high), row_size[i]);
            complement(g[i], y[i], low, high, row_size[i], verdict);
        }
        return verdict;
    }

private:
    static constexpr double SMALL = 1e-4;
    static constexpr double NOTICED = 1e-2;  // share of the largest |z| of all that a row, with the terms inside, feels
    static constexpr double ROUNDED = 1e-5;  // of |f|: the tolerance of that is rounding
    static constexpr double NO_COST = 1e-12;  // the least scale of a cost that has slopes

    struct Runs {
        std::vector<ColumnRun> jacobian, hessian;
    };

    bool is_soft(std::size_t i) const { return i < structure.price.size() && structure.price[i] < INFINITY; }

    // Of inequality i: what is beyond its limits, and its price for one more of it.
    double excess(std::size_t i) const { return outside(g[at_inequality[0] + i], c_low[i], c_high[i]); }
    double price(std::size_t i) const { return structure.price[i] + structure.price_growth[i] * excess(i); }

    // Its part of the objective, which is one of the cost's sizes too.
    double cost_of_excess(std::size_t i) {
        if (!is_soft(i)) return 0.0;
        const double beyond = excess(i), part = 0.5 * (structure.price[i] + price(i)) * beyond;
        cost_size += part;
        cost_terms += price(i) * beyond;
        costless &= !(price(i) * beyond > 0.0);
        return part;
    }

    // A multiplier above the price is a slope that nothing balances; one below it leaves something to gain beyond the limit.
    void complement_price(std::size_t i, double multiplier, double size, Verdict& verdict) const {
        const double beyond = excess(i), top = price(i), value = g[at_inequality[0] + i];
        const double pressure = beyond > 0.0 ? (value > c_high[i] ? multiplier : -multiplier) : std::fabs(multiplier);
        verdict.note(&Conditions::stationarity, std::max(pressure - top, 0.0), std::max({pressure, top, cost / size}));
        const double left = std::max(top - pressure, 0.0) * beyond;
        if (left == 0.0) return;
        raise(verdict.residual.complementarity, std::max(top - pressure, 0.0) * std::min(beyond, 1.0));
        raise(verdict.relative.complementarity, std::min({left / cost, (top - pressure) / top, beyond / size}));
    }

    std::size_t place_of(const Block& block) const { return std::size_t(&block - structure.blocks.data()); }

    // The linear terms of a row at a stage: their sum, size and reach; the share of the size that a term of 1 would have.
    struct Terms {
        double sum = 0.0, size = 0.0, share = 0.0;
    };

    // L of every variable: increments of turns count as 1 rad, as they are about the point itself.
    void measure_largest(const double* z) {
        std::fill(largest.begin(), largest.end(), 0.0);
        most = 1.0;
        for (std::size_t i = 0; i < reach.size(); ++i) {
            raise(largest[std::size_t(structure.variables[i])], std::fabs(z[i]));
            raise(most, std::fabs(z[i]));
        }
        for (std::size_t variable = 0; variable < largest.size(); ++variable)
            if (turned[variable]) raise(largest[variable], 1.0);
    }

    // N and Z of every variable, and the reaches of rows.
    void measure_reach() {
        std::fill(natural.begin(), natural.end(), 0.0);
        for (std::size_t i = 0; i < reach.size(); ++i)
            if (matters[i] < INFINITY) raise(natural[std::size_t(structure.variables[i])], matters[i]);
        for (std::size_t v = 0; v < largest.size(); ++v)
            least_reach[v] = SMALL * (natural[v] > 0.0 ? std::clamp(natural[v], 1.0, most) : most);
        for (std::size_t i = 0; i < reach.size(); ++i) {
            const std::size_t variable = std::size_t(structure.variables[i]);
            reach[i] = std::max(largest[variable], least_reach[variable]);
        }
        for (const Block& block : structure.blocks) measure_row_reach(block);
        for (std::size_t k = 0; k < structure.nx.size(); ++k)
            for (int i = 0; structure.parent[k] >= 0 && i < structure.nx[k]; ++i)
                row_reach[at_dynamics[k] + i] += std::max(reach[at_z[k] + structure.nu[k] + i], NOTICED * most);
    }

    // |g'| Z of a block's rows, beside the rest; of those with limits |g'| L too.
    void measure_row_reach(const Block& block) {
        const std::size_t place = place_of(block), entries = block.jacobian_rows.size();
        const int limited = block.dynamics + block.equalities;
        for (int k = 0; k < block.count; ++k) {
            const double* jacobian = jacobians.data() + at_jacobian[place] + k * entries;
            const std::size_t at = at_z[block.first + k];
            int r = 0;
            each_row(block, k, [&](std::size_t row) { places[std::size_t(block.objective + r++)] = row; });
            for (const ColumnRun& run : runs[place].jacobian) {
                const std::size_t i = at + run.column;
                const double far = reach[i], near = std::max(far, NOTICED * most),
                             own = largest[std::size_t(structure.variables[i])];
                for (int t = run.begin; t < run.end; ++t) {
                    const int row = block.jacobian_rows[t] - block.objective;
                    if (row < 0) continue;
                    const double entry = std::fabs(jacobian[t]);
                    row_reach[places[std::size_t(block.jacobian_rows[t])]] += entry * (row < limited ? near : far);
                    if (row >= limited) row_span[places[std::size_t(block.jacobian_rows[t])]] += entry * own;
                }
            }
        }
    }

    // The size of a variable's value as a term: its own, and of a turn 1 rad.
    double size_of(std::size_t i, double value) const {
        return turned[std::size_t(structure.variables[i])] ? 1.0 : std::fabs(value);
    }

    // S and C from the slopes' terms.
    void measure_cost(const double* w) {
        double steepest = costless ? 1.0 : NO_COST;
        for (std::size_t i = 0; !costless && i < slope.size(); ++i)
            raise(steepest, (slope_size[i] + std::fabs(w[i])) * largest[std::size_t(structure.variables[i])]);
        for (std::size_t i = 0; i < slope.size(); ++i) slope_size[i] += bent[i];
        least_cost = std::max(SMALL * steepest, ROUNDED * cost_size);
        for (std::size_t i = 0; i < slope.size(); ++i) {
            const double size = SMALL * natural[std::size_t(structure.variables[i])];
            raise(least_cost, curvature[i] * size * size);
        }
        cost = costless ? 1.0 : std::max(std::min(cost_terms, cost_size), least_cost);
    }

    // What an error of a row is compared with: its terms, or, where that is more and the cost does not mind, SMALL of their
    // reach.
    double size_of_row(std::size_t i, double error, double multiplier) const {
        const double allowed = std::fabs(multiplier) * error > 0.0 ? cost / std::fabs(multiplier) : INFINITY;
        return std::max(row_size[i], std::min(SMALL * row_reach[i], allowed));
    }

    // What an error of a limit is compared with: the size of what it limits, or, where that is more and the cost does not mind,
    // what it is small against.
    double size_of_limit(double size, double reached, double multiplier) const {
        const double allowed = multiplier != 0.0 ? cost / std::fabs(multiplier) : INFINITY;
        return std::max(size, std::min(reached, allowed));
    }

    // A block's part of rows and slopes, with the sizes of their terms; gives its part of the objective.
    double add(const Block& block, const double* z, const double* y, const double* shared,
               const double* stage_parameters) {
        const int rows = block.rows(), n = structure.nu[block.first] + structure.nx[block.first];
        const std::size_t entries = block.jacobian_rows.size(), curvatures = block.hessian_rows.size();
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
        BlockCalls& functions = calls[place_of(block)];
        functions.values(inputs, strides, block_rows.data(), block.count);
        double* block_jacobian = jacobians.data() + at_jacobian[place_of(block)];
        functions.derivatives(inputs, strides, block_jacobian, block_hessian.data(), block.count);
        double objective = 0.0;
        for (int k = 0; k < block.count; ++k) {
            const double* value = block_rows.data() + std::ptrdiff_t(k) * rows;
            if (block.objective) objective += value[0], cost_size += std::fabs(value[0]);
            measure_slopes(block, k, here + std::ptrdiff_t(k) * n, block_jacobian + k * entries);
            measure_curvature(block, k, block_hessian.data() + k * curvatures);
            std::size_t r = block.objective;
            each_row(block, k, [&](std::size_t row) {
                Terms& term = terms[r];
                const double rest = std::fabs(value[r] - term.sum);
                g[row] = value[r];
                term.size += rest;
                row_size[row] = term.size;
                row_reach[row] = row_span[row] = rest;
                ++r;
            });
            measure_matters(block, k, z, block_jacobian + k * entries);
        }
        return objective;
    }

    // Slopes of the weighted sum at the k-th stage, and the linear terms of each row.
    void measure_slopes(const Block& block, int k, const double* z, const double* jacobian) {
        const double* weight = weights.data() + std::ptrdiff_t(k) * block.rows();
        const std::size_t at = at_z[block.first + k];
        const int *rows = block.jacobian_rows.data(), objective = block.objective;
        Terms* of_row = terms.data();
        std::fill_n(of_row, block.rows(), Terms{});
        for (int j = 0; j < structure.nu[block.first + k] + structure.nx[block.first + k]; ++j)
            size_here[j] = size_of(at + j, z[j]);
        for (const ColumnRun& run : runs[place_of(block)].jacobian) {
            const double value = z[run.column], size = size_here[run.column];
            double sum = 0.0, sizes = 0.0;
            for (int t = run.begin; t < run.end; ++t) {
                const int row = rows[t];
                const double entry = std::fabs(jacobian[t]), across = jacobian[t] * weight[row];
                Terms& term = of_row[row];
                term.sum += jacobian[t] * value;
                term.size += entry * size;
                sum += across;
                sizes += std::fabs(across);
                if (row >= objective) continue;
                cost_terms += entry * size;
                costless &= entry == 0.0;
            }
            slope[at + run.column] += sum;
            slope_size[at + run.column] += sizes;
        }
    }

    // Of every variable at the k-th stage, the size at which it would be a term like the others in all rows of the block.
    void measure_matters(const Block& block, int k, const double* z, const double* jacobian) {
        const std::size_t at = at_z[block.first + k];
        for (int i = 0; i < block.dynamics; ++i) {
            const std::size_t x = at_z[block.child + k] + structure.nu[block.child + k] + i;
            double& size = terms[block.objective + i].size;
            size += size_of(x, z[x]);
            matters[x] = std::min(matters[x], size);
        }
        for (int row = 0; row < block.rows(); ++row)
            terms[row].share = row < block.objective ? 0.0 : 1.0 / terms[row].size;
        const int* rows = block.jacobian_rows.data();
        const Terms* of_row = terms.data();
        for (const ColumnRun& run : runs[place_of(block)].jacobian) {
            double largest_share = 0.0;  // of a row's terms that the variable would have at 1
            for (int t = run.begin; t < run.end; ++t) {
                const double share = std::fabs(jacobian[t]) * of_row[rows[t]].share;
                if (share > largest_share) largest_share = share;
            }
            if (largest_share > 0.0) matters[at + run.column] = std::min(matters[at + run.column], 1.0 / largest_share);
        }
    }

    // |H| |z| as terms of the slopes, by the lower triangle of H.
    void measure_curvature(const Block& block, int k, const double* hessian) {
        const int* rows = block.hessian_rows.data();
        const double* size = size_here.data();
        double *to = bent.data() + at_z[block.first + k], *diagonal = curvature.data() + at_z[block.first + k];
        for (const ColumnRun& run : runs[place_of(block)].hessian) {
            const int j = run.column;
            double below = 0.0;
            for (int t = run.begin; t < run.end; ++t) {
                const int i = rows[t];
                const double entry = std::fabs(hessian[t]);
                if (i == j) {
                    diagonal[j] += entry;
                } else {
                    to[i] += entry * size[j];
                }
                below += entry * size[i];
            }
            to[j] += below;
        }
    }

    // x of a stage stands in its parent's rows F - x.
    void subtract_children(const double* z, const double* y) {
        for (std::size_t k = 0; k < structure.nx.size(); ++k) {
            if (structure.parent[k] < 0) continue;
            for (int i = 0; i < structure.nx[k]; ++i) {
                const std::size_t x = at_z[k] + structure.nu[k] + i, row = at_dynamics[k] + i;
                g[row] -= z[x];
                row_size[row] += size_of(x, z[x]);
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

    // |multiplier| times the distance to the limit it presses on, which counts as 1 at most, also if there is none; a value
    // right on its limit is complementary whatever presses it there.
    void complement(double value, double multiplier, double low, double high, double size, Verdict& verdict) const {
        const double gap = std::max(multiplier > 0.0 ? high - value : value - low, 0.0);
        const double product = std::fabs(multiplier) * std::min(gap, 1.0);
        raise(verdict.residual.complementarity, product);
        if (product == 0.0) return;
        const double far =
            std::min(gap, size);  // a limit that is further away than the value is large, or that is not there
        double& worst = verdict.relative.complementarity;
        const double pressed = std::fabs(multiplier) * far;
        if (!(pressed <= worst * std::min(cost, LARGEST)))
            raise(worst, std::min(share(pressed, cost), share(gap, size)));
    }

    Structure structure;
    std::vector<std::size_t> at_z, at_dynamics, at_equality, at_inequality;  // of each stage: in z; its rows in y
    std::vector<double> z_low, z_high, c_low, c_high;
    std::vector<double> slope_size, bent, curvature;    // terms of slopes, |H| |z|; |H_ii|
    std::vector<double> row_reach, row_span;            // |g'| Z and |g'| L of rows, beside the rest
    std::vector<double> reach;                          // Z along z
    std::vector<double> largest, natural, least_reach;  // of a variable: L, N, and what Z is at least
    std::vector<double> matters;                        // N along z
    std::vector<double> block_rows, weights, block_hessian;
    std::vector<double> jacobians;                               // of all blocks
    std::vector<std::size_t> at_jacobian, places;                // of each block; of the rows of a stage, in y
    std::vector<Terms> terms;                                    // of the rows of a stage
    std::vector<double> size_here;                               // of the variables of a stage, as terms
    std::vector<BlockCalls> calls;                               // of each block
    std::vector<Runs> runs;                                      // of each block
    double cost_terms = 0.0, cost_size = 0.0, least_cost = 1.0;  // the sums of |f' z| and |f|; what C is at least
    double most = 1.0;                                           // the largest |z| of all, at least 1
    bool costless = false;                                       // no slope of the cost is other than zero
    std::vector<char> turned, fixed;  // variables that are turns; entries of z that are given
};

}  // namespace trisweep
