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
                dynamics.add(int(t), column + row * s.n, row);
            else if ((row -= block.dynamics) < block.equalities)
                equalities.add(int(t), column + (block.at_equality + row) * s.n, row);
            else
                inequalities.add(int(t), column + (block.at_inequality + row - block.equalities) * s.n,
                                 row - block.equalities);
        }
        for (std::size_t t = 0; t < block.hessian_rows.size(); ++t) {
            const int a = along_z(block.hessian_rows[t]), b = along_z(block.hessian_columns[t]);
            hessian.push_back(std::max(a, b) + std::min(a, b) * s.n);
        }
    }

    // The nonzeros of one stage, each part to where it belongs: the gradient along z, E of the child, G and C with a scale for
    // each row of the block, H.
    void add_gradient(const double* jacobian, double scale, double* gradient) const {
        for (std::size_t t = 0; t < objective.to.size(); ++t)
            gradient[objective.to[t]] += scale * jacobian[objective.from[t]];
    }
    void put_dynamics(const double* jacobian, double* E) const {
        for (std::size_t t = 0; t < dynamics.to.size(); ++t) E[dynamics.to[t]] = jacobian[dynamics.from[t]];
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
        for (std::size_t t = 0; t < hessian.size(); ++t) H[hessian[t]] = nonzeros[t];
    }

private:
    struct Places {
        std::vector<int> from, to, row;  // nonzero of the Jacobian, offset in the matrix, row of the block of that kind

        void add(int nonzero, int offset, int of_row) {
            from.push_back(nonzero), to.push_back(offset), row.push_back(of_row);
        }
    };

    static void put_scaled(const Places& p, const double* jacobian, const double* scale, double* matrix) {
        for (std::size_t t = 0; t < p.to.size(); ++t) matrix[p.to[t]] = scale[p.row[t]] * jacobian[p.from[t]];
    }

    Places objective, dynamics, equalities, inequalities;
    std::vector<int> hessian;
};

}  // namespace trisweep
