// Where the nonzeros of a block's derivatives go in the matrices of its stages, whose places along z are all the same.
#pragma once

#include "block.hpp"
#include "riccati/riccati.hpp"

namespace trisweep {

class NonzeroPlaces {
public:
    NonzeroPlaces(const Block& block, const Riccati::Stage& s) {
        const auto along_z = [&](int column) { return column < s.nu ? column : s.up + column - s.nu; };
        for (std::size_t t = 0; t < block.jacobian_rows.size(); ++t) {
            int row = block.jacobian_rows[t];
            const int column = along_z(block.jacobian_columns[t]);
            if (row < block.objective)
                objective.add(int(t), column, row);
            else if ((row -= block.objective) < block.dynamics)
                append(dynamics, int(t), column + row * s.n, s.n);
            else if ((row -= block.dynamics) < block.equalities)
                equalities.add(int(t), column + (block.at_equality + row) * s.n, row);
            else
                inequalities.add(int(t), column + (block.at_inequality + row - block.equalities) * s.n,
                                 row - block.equalities);
        }
        for (std::size_t t = 0; t < block.hessian_rows.size(); ++t) {
            const int a = along_z(block.hessian_rows[t]), b = along_z(block.hessian_columns[t]);
            hessian.push_back(std::max(a, b) + std::min(a, b) * s.n);
            append(hessian_runs, int(t), hessian.back(), 1);
        }
        n = s.n;
    }

    // The nonzeros of one stage, each part to where it belongs: the gradient along z, E of the child, G and C with a scale for
    // each row of the block, H.
    void add_gradient(const double* jacobian, double scale, double* gradient) const {
        for (std::size_t t = 0; t < objective.to.size(); ++t)
            gradient[objective.to[t]] += scale * jacobian[objective.from[t]];
    }
    void put_dynamics(const double* jacobian, double* E) const {
        for (const Run& run : dynamics) {
            const double* from = jacobian + run.from;
            double* to = E + run.to;
            for (int i = 0; i < run.size; ++i) to[std::ptrdiff_t(i) * n] = from[i];
        }
    }
    void put_equalities(const double* jacobian, const double* scale, double* G) const {
        put_scaled(equalities, jacobian, scale, G);
    }
    void put_inequalities(const double* jacobian, const double* scale, double* C) const {
        put_scaled(inequalities, jacobian, scale, C);
    }
    void add_hessian(const double* nonzeros, double* H) const {
        for (std::size_t t = 0; t < hessian.size(); ++t) H[hessian[t]] += nonzeros[t];
    }
    // The same where H has, elsewhere, the zeros that it began with: nobody else writes to it but zeros.
    void put_hessian(const double* nonzeros, double* H) const {
        for (const Run& run : hessian_runs) {
            const double* from = nonzeros + run.from;
            double* to = H + run.to;
            int i = 0;
            for (; i + 4 <= run.size; i += 4) loose_quad_at(to + i) = loose_quad_at(from + i);
            for (; i < run.size; ++i) to[i] = from[i];
        }
    }

private:
    struct Places {
        std::vector<int> from, to, row;  // nonzero of the Jacobian, offset in the matrix, row of the block of that kind

        void add(int nonzero, int offset, int of_row) {
            from.push_back(nonzero), to.push_back(offset), row.push_back(of_row);
        }
    };

    struct Run {
        int from, to, size;  // nonzeros that follow each other, and so do their places, at a distance
    };

    static void append(std::vector<Run>& runs, int nonzero, int to, int distance) {
        if (!runs.empty()) {
            Run& last = runs.back();
            if (nonzero == last.from + last.size && to == last.to + last.size * distance) {
                ++last.size;
                return;
            }
        }
        runs.push_back({nonzero, to, 1});
    }

    static void put_scaled(const Places& p, const double* jacobian, const double* scale, double* matrix) {
        for (std::size_t t = 0; t < p.to.size(); ++t) matrix[p.to[t]] = scale[p.row[t]] * jacobian[p.from[t]];
    }

    int n = 0;
    Places objective, equalities, inequalities;
    std::vector<Run> dynamics, hessian_runs;
    std::vector<int> hessian;
};

}  // namespace trisweep
