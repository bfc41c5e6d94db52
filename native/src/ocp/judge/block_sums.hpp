// Sums over the rows and columns of a block's derivatives, with W of its stages side by side, one in each lane of a vector: what
// an entry is added to is then the same for all of them. The letters are those of `judge.hpp`.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/arena.hpp"
#include "ocp/stages/block.hpp"
#include "ocp/stages/column_runs.hpp"

namespace trisweep {

class BlockSums {
public:
    // `columns`: variables of a stage. `lanes`: stages whose derivatives come side by side, a multiple of W.
    BlockSums(const Block& block, int columns, int lanes)
        : columns(columns),
          rows(block.rows()),
          lanes(lanes),
          entries(int(block.jacobian_rows.size())),
          limited(block.objective + block.dynamics + block.equalities),
          objective(block.objective),
          jacobian_rows(block.jacobian_rows),
          hessian_rows(block.hessian_rows),
          jacobian_runs(column_runs(block.jacobian_columns)),
          hessian_runs(column_runs(block.hessian_columns)) {
        for (int t = 0; t < entries; ++t)
            if (jacobian_rows[t] < objective) cost_entries.push_back(t);
        arena.build([&](Arena& a) {
            jacobian = a.matrix(std::size_t(lanes) * entries, (block.count + lanes - 1) / lanes);
            for (double** along_columns :
                 {&z, &size, &slope, &slope_size, &bent, &curvature, &natural, &reach, &largest})
                *along_columns = a.matrix(W, columns);
            for (double** along_rows : {&weight, &sum, &terms, &share, &row_reach, &row_span})
                *along_rows = a.matrix(W, rows);
        });
    }

    // Numbers of `lanes` stages, each `stride` after the one before, side by side: entry t of the l-th at W t + l. Other lanes are
    // zero.
    static void put_side_by_side(const double* from, std::ptrdiff_t stride, int count, int lanes, double* to) {
        if (lanes == W) {
            for (int t = 0; t < count; ++t)
                for (int l = 0; l < W; ++l) to[t * W + l] = from[l * stride + t];
            return;
        }
        std::fill_n(to, count * W, 0.0);
        for (int t = 0; t < count; ++t)
            for (int l = 0; l < lanes; ++l) to[t * W + l] = from[l * stride + t];
    }

    // The Jacobian's nonzeros of stages from the k-th on, which begins a group of lanes: kept for all stages.
    void keep_jacobian(int k, const double* side_by_side) {
        std::copy_n(side_by_side, std::size_t(lanes) * entries, jacobian + std::ptrdiff_t(k) * entries);
    }

    // Of the W stages from the k-th on. Along columns: slopes of the weighted sum and the sizes of what is added up there; along
    // rows: of the linear terms.
    void measure_slopes(int k) {
        for (double* cleared : {slope, slope_size}) std::fill_n(cleared, columns * W, 0.0);
        for (double* cleared : {sum, terms}) std::fill_n(cleared, rows * W, 0.0);
        const double *J = jacobian_at(k), *weights = weight;
        double *sums = sum, *row_terms = terms;
        const int* of_row = jacobian_rows.data();
        for (const ColumnRun& run : jacobian_runs) {
            const vec value = load(z + run.column * W), large = load(size + run.column * W);
            vec slopes = load(slope + run.column * W), sizes = load(slope_size + run.column * W);
            for (int t = run.begin; t < run.end; ++t) {
                const int row = of_row[t] * W;
                const vec entry = load(J + t * lanes), across = entry * load(weights + row);
                store(sums + row, load(sums + row) + entry * value);
                store(row_terms + row, load(row_terms + row) + magnitude(entry) * large);
                slopes += across;
                sizes += magnitude(across);
            }
            store(slope + run.column * W, slopes);
            store(slope_size + run.column * W, sizes);
        }
    }

    // The sum of |f'|, and after `measure_slopes` of |f' z|.
    double cost_slopes(int k) {
        vec found{};
        for (int t : cost_entries) found += magnitude(load(jacobian_at(k) + t * lanes));
        return trisweep::sum(found);
    }
    double cost_terms() const { return objective ? trisweep::sum(load(terms)) : 0.0; }

    // Along columns: |H| |z| and |H_ii|, by the lower triangle of H, whose nonzeros of W stages begin here.
    void measure_curvature(const double* H) {
        for (double* cleared : {bent, curvature}) std::fill_n(cleared, columns * W, 0.0);
        const double* sizes = size;
        double *beside = bent, *diagonal = curvature;
        const int* of_row = hessian_rows.data();
        for (const ColumnRun& run : hessian_runs) {
            const int j = run.column * W;
            const vec large = load(sizes + j);
            vec below{};
            for (int t = run.begin; t < run.end; ++t) {
                const int i = of_row[t] * W;
                const vec entry = magnitude(load(H + t * lanes));
                if (i == j)
                    store(diagonal + j, load(diagonal + j) + entry);
                else
                    store(beside + i, load(beside + i) + entry * large);
                below += entry * load(sizes + i);
            }
            store(beside + j, load(beside + j) + below);
        }
    }

    // Along columns: the size at which a variable would be a term like the others in all rows, which have `terms`.
    void measure_natural(int k) {
        for (int r = 0; r < rows * W; r += W) store(share + r, r < objective * W ? vec{} : 1.0 / load(terms + r));
        std::fill_n(natural, columns * W, 0.0);  // first the largest share of a row's terms that it would have at 1
        const double *J = jacobian_at(k), *shares = share;
        const int* of_row = jacobian_rows.data();
        for (const ColumnRun& run : jacobian_runs) {
            vec most = load(natural + run.column * W);
            for (int t = run.begin; t < run.end; ++t)
                most = larger(magnitude(load(J + t * lanes)) * load(shares + of_row[t] * W), most);
            store(natural + run.column * W, most);
        }
        for (int j = 0; j < columns * W; j += W) store(natural + j, 1.0 / load(natural + j));
    }

    // Along rows: |g'| Z, of those without limits at least `noticed` for every Z; of the others |g'| L too.
    void measure_reach(int k, double noticed) {
        for (double* cleared : {row_reach, row_span}) std::fill_n(cleared, rows * W, 0.0);
        const double* J = jacobian_at(k);
        double *reaches = row_reach, *spans = row_span;
        const int* of_row = jacobian_rows.data();
        const int first = limited * W;
        const vec least = broadcast(noticed);
        for (const ColumnRun& run : jacobian_runs) {
            const vec far = load(reach + run.column * W), near = far < least ? least : far,
                      own = load(largest + run.column * W);
            for (int t = run.begin; t < run.end; ++t) {
                const int row = of_row[t] * W;
                const vec entry = magnitude(load(J + t * lanes));
                store(reaches + row, load(reaches + row) + entry * (row < first ? near : far));
                if (row >= first) store(spans + row, load(spans + row) + entry * own);
            }
        }
    }

    const int columns, rows, lanes;
    double *z, *size, *slope, *slope_size, *bent, *curvature, *natural, *reach, *largest;  // along columns
    double *weight, *sum, *terms, *share, *row_reach, *row_span;                           // along rows

private:
    const double* jacobian_at(int k) const {
        return jacobian + std::ptrdiff_t(k / lanes * lanes) * entries + k % lanes;
    }

    const int entries;             // nonzeros of a stage's Jacobian
    const int limited, objective;  // the first row with limits; rows of the objective
    const std::vector<int>&jacobian_rows, &hessian_rows;
    const std::vector<ColumnRun> jacobian_runs, hessian_runs;
    std::vector<int> cost_entries;  // nonzeros of the objective's row
    double* jacobian;
    Arena arena;
};

}  // namespace trisweep
