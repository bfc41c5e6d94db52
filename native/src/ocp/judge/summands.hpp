// What is added up in the rows and slopes of a problem at a point, from the compiled functions: values, sums, and the sizes
// that `judge.hpp` compares errors with; its letters.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <vector>

#include "block_sums.hpp"
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
        for (std::vector<double>* vector : {&slope, &slope_size, &bent, &reach, &span, &size, &matters, &curvature})
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
        made_of.resize(at_dynamics[stages]);
        least_reach.resize(std::size_t(variables));
        turned.resize(largest.size());
        for (int turn : structure.turns) turned[std::size_t(turn)] = true;
        timed.assign(turned.size(), false);
        for (int duration : structure.durations) timed[std::size_t(duration)] = true;
        std::size_t rows = 0;
        for (const Block& b : structure.blocks) {
            rows = std::max(rows, std::size_t(b.count) * b.rows());
            calls.emplace_back(b, true);
            sums.emplace_back(b, s.nu[b.first] + s.nx[b.first], calls.back().lanes);
        }
        block_rows.resize(rows);
        weights.resize(rows);
    }

    // Of the point last looked at: the rows' values, and the slopes of f + y g.
    std::vector<double> g, slope;

protected:
    static constexpr double SMALL = 1e-4;
    static constexpr double OWN = 100.0;     // times what a row of the dynamics is made of
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
    std::vector<double> span, reach;                    // L and Z along z
    std::vector<double> matters;                        // N along z, of each stage alone
    std::vector<double> largest, natural;               // of a variable: L, N
    double largest_of_all = 0.0;                        // of L, but for durations
    double cost_terms = 0.0, cost_size = 0.0;           // the sums of |f' z| and |f|
    bool costless = false;                              // no slope of the cost is other than zero

private:
    static constexpr double ALL = 1.0;  // of the curvature that nodes have

    std::size_t place_of(const Block& block) const { return std::size_t(&block - structure.blocks.data()); }

    // The sizes of values as terms, and L of every variable: increments of turns count as 1 rad, as they are about the point
    // itself.
    void measure_largest(const double* z) {
        std::fill(largest.begin(), largest.end(), 0.0);
        most = 1.0;
        for (std::size_t i = 0; i < reach.size(); ++i) {
            const std::size_t variable = std::size_t(structure.variables[i]);
            size[i] = turned[variable] ? 1.0 : std::fabs(z[i]);
            raise(largest[variable], std::fabs(z[i]));
            raise(most, std::fabs(z[i]));
        }
        largest_of_all = 0.0;
        for (std::size_t variable = 0; variable < largest.size(); ++variable) {
            if (turned[variable]) raise(largest[variable], 1.0);
            if (!timed[variable]) raise(largest_of_all, largest[variable]);
        }
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
            span[i] = largest[variable];
            reach[i] = std::max(largest[variable], least_reach[variable]);
        }
        for (const Block& block : structure.blocks) measure_row_reach(block);
        for (std::size_t k = 0; k < structure.nx.size(); ++k)
            for (int i = 0; structure.parent[k] >= 0 && i < structure.nx[k]; ++i) {
                const std::size_t row = at_dynamics[k] + i, x = at_z[k] + structure.nu[k] + i;
                const double most_of_row = OWN * std::max({made_of[row], span[x], SMALL});
                row_size[row] = std::min(row_size[row], most_of_row);
                row_reach[row] = std::min(row_reach[row] + std::max(reach[x], NOTICED * most), most_of_row / SMALL);
            }
    }

    // |g'| Z of a block's rows, beside the rest; of those with limits |g'| L too.
    void measure_row_reach(const Block& block) {
        BlockSums& of = sums[place_of(block)];
        for (int k = 0; k < block.count; k += W) {
            const int lanes = std::min(W, block.count - k);
            const std::size_t at = at_z[block.first + k];
            BlockSums::put_side_by_side(reach.data() + at, of.columns, of.columns, lanes, of.reach);
            BlockSums::put_side_by_side(span.data() + at, of.columns, of.columns, lanes, of.largest);
            of.measure_reach(k, NOTICED * most);
            for (int l = 0; l < lanes; ++l)
                each_row(block, k + l, [&](int r, std::size_t row) {
                    row_reach[row] += of.row_reach[r * W + l];
                    row_span[row] += of.row_span[r * W + l];
                });
        }
    }

    // A block's part of rows and slopes, with the sizes of their terms; gives its part of the objective.
    double add(const Block& block, const double* z, const double* y, const double* shared,
               const double* stage_parameters) {
        const std::int64_t rows = block.rows(), n = structure.nu[block.first] + structure.nx[block.first];
        for (int k = 0; k < block.count; ++k) {
            double* weight = weights.data() + k * rows;
            if (block.objective) *weight = 1.0;
            each_row(block, k, [&](int r, std::size_t row) { weight[r] = y[row]; });
        }
        const double* here = z + at_z[block.first];
        const double* inputs[] = {here,
                                  here + structure.nu[block.first],
                                  shared + block.at_shared,
                                  stage_parameters + block.at_stage,
                                  stage_parameters + block.at_child,
                                  weights.data(),
                                  &ALL};
        const std::int64_t strides[] = {n, n, 0, block.stage_stride, block.child_stride, rows, 0};
        BlockCalls& functions = calls[place_of(block)];
        functions.values(inputs, strides, block_rows.data(), block.count);
        double objective = 0.0;
        for (int k = 0; block.objective && k < block.count; ++k) {
            objective += block_rows[k * rows];
            cost_size += std::fabs(block_rows[k * rows]);
        }
        for (int k = 0; k < block.count; k += functions.lanes) {
            const int count = std::min(functions.lanes, block.count - k);
            const SideBySide found = functions.side_by_side(inputs, strides, count);
            sums[place_of(block)].keep_jacobian(k, found.jacobian);
            for (int l = 0; l < count; l += W) add_side_by_side(block, k + l, here + (k + l) * n, found.hessian + l);
            for (int a = 0; a < 6; ++a) inputs[a] += count * strides[a];
        }
        return objective;
    }

    // The same of W stages from the k-th on, whose variables begin at z, and the Hessian's nonzeros at H.
    void add_side_by_side(const Block& block, int k, const double* z, const double* H) {
        BlockSums& of = sums[place_of(block)];
        const int lanes = std::min(W, block.count - k), n = of.columns;
        const std::size_t at = at_z[block.first + k];
        const auto put = [lanes](const double* from, int count, double* to) {
            BlockSums::put_side_by_side(from, count, count, lanes, to);
        };
        put(z, n, of.z);
        put(size.data() + at, n, of.size);
        put(weights.data() + std::ptrdiff_t(k) * of.rows, of.rows, of.weight);
        of.measure_slopes(k);
        of.measure_curvature(H);
        cost_terms += of.cost_terms();
        costless &= of.cost_slopes(k) == 0.0;
        for (int l = 0; l < lanes; ++l) {
            const double* value = block_rows.data() + std::ptrdiff_t(k + l) * of.rows;
            each_row(block, k + l, [&](int r, std::size_t row) {
                const double rest = std::fabs(value[r] - of.sum[r * W + l]);
                g[row] = value[r];
                row_size[row] = of.terms[r * W + l] += rest;
                row_reach[row] = row_span[row] = rest;
            });
            if (block.dynamics) add_children(block, k + l, of.terms + block.objective * W + l);
        }
        of.measure_natural(k);
        for (int l = 0; l < lanes; ++l)
            for (int j = 0; j < n; ++j) {
                const std::size_t i = at + std::size_t(l * n + j), from = std::size_t(j * W + l);
                slope[i] += of.slope[from];
                slope_size[i] += of.slope_size[from];
                bent[i] += of.bent[from];
                curvature[i] += of.curvature[from];
                matters[i] = std::min(matters[i], of.natural[from]);
            }
    }

    // The child's x among the `terms` of the dynamics of the k-th stage.
    void add_children(const Block& block, int k, double* terms) {
        const std::size_t x = at_z[block.child + k] + structure.nu[block.child + k];
        for (int i = 0; i < block.dynamics; ++i) {
            terms[i * W] += size[x + i];
            matters[x + i] = std::min(matters[x + i], terms[i * W]);
        }
    }

    // x of a stage stands in its parent's rows F - x.
    void subtract_children(const double* z, const double* y) {
        for (std::size_t k = 0; k < structure.nx.size(); ++k) {
            if (structure.parent[k] < 0) continue;
            for (int i = 0; i < structure.nx[k]; ++i) {
                const std::size_t x = at_z[k] + structure.nu[k] + i, row = at_dynamics[k] + i;
                made_of[row] = std::fabs(g[row]) + size[x];
                g[row] -= z[x];
                row_size[row] += size[x];
                slope[x] -= y[row];
                slope_size[x] += std::fabs(y[row]);
            }
        }
    }

    // visit(row of the block, place in y) for the rows of a block at its k-th stage, in their order, but for the objective.
    template <class Visit>
    void each_row(const Block& block, int k, const Visit& visit) const {
        const int stage = block.first + k;
        int row = block.objective;
        for (int r = 0; r < block.dynamics; ++r) visit(row++, at_dynamics[block.child + k] + r);
        for (int r = 0; r < block.equalities; ++r) visit(row++, at_equality[stage] + block.at_equality + r);
        for (int r = 0; r < block.inequalities; ++r) visit(row++, at_inequality[stage] + block.at_inequality + r);
    }

    std::vector<double> size;         // along z: of values as terms
    std::vector<double> made_of;      // of rows of the dynamics: |F| + |x|
    std::vector<double> least_reach;  // of a variable: what Z is at least
    std::vector<double> block_rows, weights;
    std::vector<BlockCalls> calls;    // of each block
    std::deque<BlockSums> sums;       // of each block
    std::vector<char> turned, timed;  // variables that are turns, and durations
    double most = 1.0;                // the largest |z| of all, at least 1
};

}  // namespace trisweep
