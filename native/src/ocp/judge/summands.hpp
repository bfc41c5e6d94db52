// What is added up in the rows and slopes of a problem at a point, from the compiled functions: values, sums, and the sizes
// that `judge.hpp` compares errors with; its letters.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ocp/stages/column_runs.hpp"
#include "ocp/stages/structure.hpp"
#include "verdict.hpp"

namespace trisweep {

class Summands {
public:
    Summands(const Summands&) = delete;
    explicit Summands(const Structure& s) : structure(s) {
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
        for (std::vector<double>* vector : {&slope, &slope_size, &bent, &reach, &matters, &curvature})
            vector->resize(at_z[stages]);
        for (std::vector<double>* vector : {&g, &row_size, &row_reach, &row_span})
            vector->resize(at_inequality[stages]);
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
        jacobians.resize(jacobian);
        block_hessian.resize(hessian);
        for (const Block& b : structure.blocks) {
            calls.emplace_back(b);
            runs.push_back({column_runs(b.jacobian_columns), column_runs(b.hessian_columns)});
        }
    }

    // Of the point last looked at: the rows' values, and the slopes of f + y g.
    std::vector<double> g, slope;

protected:
    static constexpr double SMALL = 1e-4;
    static constexpr double NOTICED = 1e-2;  // share of the largest |z| of all that a row, with the terms inside, feels

    // All of it at a point; gives the blocks' part of the objective.
    double add_up(const double* z, const double* y, const double* shared, const double* stage_parameters) {
        for (std::vector<double>* vector :
             {&slope, &slope_size, &bent, &curvature, &g, &row_size, &row_reach, &row_span})
            std::fill(vector->begin(), vector->end(), 0.0);
        std::fill(matters.begin(), matters.end(), INFINITY);
        measure_largest(z);
        cost_terms = cost_size = 0.0;
        costless = true;
        double objective = 0.0;
        for (const Block& block : structure.blocks) objective += add(block, z, y, shared, stage_parameters);
        subtract_children(z, y);
        measure_reach();
        return objective;
    }

    Structure structure;
    std::vector<std::size_t> at_z, at_dynamics, at_equality, at_inequality;  // of each stage: in z; its rows in y
    std::vector<double> slope_size, bent, curvature;                         // terms of slopes, |H| |z|; |H_ii|
    std::vector<double> row_size, row_reach, row_span;  // terms of rows; |g'| Z and |g'| L, beside the rest
    std::vector<double> reach;                          // Z along z
    std::vector<double> largest, natural;               // of a variable: L, N
    double cost_terms = 0.0, cost_size = 0.0;           // the sums of |f' z| and |f|
    bool costless = false;                              // no slope of the cost is other than zero

private:
    struct Runs {
        std::vector<ColumnRun> jacobian, hessian;
    };

    std::size_t place_of(const Block& block) const { return std::size_t(&block - structure.blocks.data()); }

    // The linear terms of a row at a stage: their sum and size; the share of the size that a term of 1 would have.
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

    std::vector<double> matters;      // N along z
    std::vector<double> least_reach;  // of a variable: what Z is at least
    std::vector<double> block_rows, weights, block_hessian;
    std::vector<double> jacobians;                 // of all blocks
    std::vector<std::size_t> at_jacobian, places;  // of each block; of the rows of a stage, in y
    std::vector<Terms> terms;                      // of the rows of a stage
    std::vector<double> size_here;                 // of the variables of a stage, as terms
    std::vector<BlockCalls> calls;                 // of each block
    std::vector<Runs> runs;                        // of each block
    std::vector<char> turned;                      // variables that are turns
    double most = 1.0;                             // the largest |z| of all, at least 1
};

}  // namespace trisweep
