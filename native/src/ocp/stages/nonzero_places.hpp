// Where the nonzeros of a block's derivatives go in the matrices of its stages, whose places along z are all the same. They come
// with a stage in each lane, and go to each stage four at a time.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "block.hpp"
#include "kernels/transpose.hpp"
#include "riccati/riccati.hpp"

namespace trisweep {

class NonzeroPlaces {
public:
    static constexpr int MOST_LANES = 8;

    // Of the stage in each lane, where something of it begins; where there are fewer, of the last one again.
    template <class T>
    using OfLanes = std::array<T*, MOST_LANES>;

    // What lanes of nonzeros `count` stages are in, and whether a number of them was not finite.
    struct Lanes {
        const SideBySide& from;
        int count;
        vec seen[MOST_LANES / W] = {};

        // The first stage with such a number; -1: none.
        int first_fault() const {
            for (int l = 0; l < count; ++l)
                if (seen[l / W][l % W] != 0.0) return l;
            return -1;
        }
    };

    // `light`: nonzeros that are the values of the edge's light rows.
    NonzeroPlaces(const Block& block, const Riccati::Stage& s, const std::vector<int>& light) {
        const auto along_z = [&](int column) { return column < s.nu ? column : s.up + column - s.nu; };
        Found of_objective, of_dynamics, of_equalities, of_inequalities, of_hessian, of_light;
        for (std::size_t t = 0; t < block.jacobian_rows.size(); ++t) {
            int row = block.jacobian_rows[t];
            const int column = along_z(block.jacobian_columns[t]);
            if (row < block.objective)
                of_objective[{row, column}] = int(t);
            else if ((row -= block.objective) < block.dynamics)
                of_dynamics[{row, column}] = int(t);
            else if ((row -= block.dynamics) < block.equalities)
                of_equalities[{row, column}] = int(t);
            else
                of_inequalities[{row - block.equalities, column}] = int(t);
        }
        for (std::size_t t = 0; t < block.hessian_rows.size(); ++t) {
            const int a = along_z(block.hessian_rows[t]), b = along_z(block.hessian_columns[t]);
            of_hessian[{std::min(a, b), std::max(a, b)}] = int(t);
        }
        for (std::size_t t = 0; t < light.size(); ++t) of_light[{0, int(t)}] = light[t];
        objective = quads(of_objective, 0, 0);
        dynamics = quads(of_dynamics, s.n, 0);
        light_values = quads(of_light, 0, 0);
        equalities = quads(of_equalities, s.n, block.at_equality);
        inequalities = quads(of_inequalities, s.n, block.at_inequality);
        hessian = quads(of_hessian, s.n, 0);
    }

    // Each part of the derivatives to where it belongs: the gradient along z, E of the child and the values of its light rows, G
    // and C with a scale for each row of the block, H.
    void add_gradient(Lanes& lanes, double scale, const OfLanes<double>& gradient) const {
        move(objective, lanes.from.jacobian, lanes, [&](const Quad& q, int l, quad values) {
            if (l < lanes.count) at(gradient[l], q) += scale * values;
        });
    }
    void put_dynamics(Lanes& lanes, const OfLanes<double>& E) const { put(dynamics, lanes.from.jacobian, lanes, E); }
    void put_light_values(Lanes& lanes, const OfLanes<double>& values) const {
        put(light_values, lanes.from.jacobian, lanes, values);
    }
    void put_equalities(Lanes& lanes, const OfLanes<const double>& scale, const OfLanes<double>& G) const {
        put_scaled(equalities, lanes, scale, G);
    }
    void put_inequalities(Lanes& lanes, const OfLanes<const double>& scale, const OfLanes<double>& C) const {
        put_scaled(inequalities, lanes, scale, C);
    }
    // H has, elsewhere, the zeros that it began with: nobody else writes to it but zeros.
    void put_hessian(Lanes& lanes, const OfLanes<double>& H) const { put(hessian, lanes.from.hessian, lanes, H); }
    void add_hessian(Lanes& lanes, const OfLanes<double>& H) const {
        move(hessian, lanes.from.hessian, lanes, [&](const Quad& q, int l, quad values) {
            if (l < lanes.count) at(H[l], q) += values;
        });
    }

private:
    static constexpr int ZERO = -1;
    alignas(ALIGNMENT) static constexpr double ZEROS[MOST_LANES] = {};

    // Four entries that follow each other in a matrix: from where on, which nonzeros they are or ZERO, and their row among the
    // block's of that kind.
    struct Quad {
        int to, from[4], row;
    };

    using Found = std::map<std::pair<int, int>, int>;  // of rows and columns of a matrix: nonzeros

    // `distance`: of the rows in memory, the first of which is the matrix' row `first`.
    static std::vector<Quad> quads(const Found& found, int distance, int first) {
        std::vector<Quad> made;
        for (const auto& [place, nonzero] : found) {
            const auto [row, column] = place;
            const int to = column / 4 * 4 + (first + row) * distance;
            if (made.empty() || made.back().to != to) made.push_back({to, {ZERO, ZERO, ZERO, ZERO}, row});
            made.back().from[column % 4] = nonzero;
        }
        return made;
    }

    static quad& at(double* matrix, const Quad& q) { return *reinterpret_cast<quad*>(matrix + q.to); }

    // use(q, lane, its four values) for all lanes of whole vectors that have stages.
    template <class Use>
    static void move(const std::vector<Quad>& quads, const double* nonzeros, Lanes& lanes, const Use& use) {
        with_count<MOST_LANES / W>((lanes.count + W - 1) / W, [&]<int VECTORS>() {
            vec seen[VECTORS] = {};
            for (const Quad& q : quads) {
                const double* from[4];
                for (int i = 0; i < 4; ++i)
                    from[i] = q.from[i] == ZERO ? ZEROS : nonzeros + std::ptrdiff_t(q.from[i]) * lanes.from.lanes;
#pragma GCC unroll 4
                for (int k = 0; k < VECTORS; ++k) {
                    const int l = k * W;
                    const vec a = load(from[0] + l), b = load(from[1] + l), c = load(from[2] + l),
                              d = load(from[3] + l);
                    seen[k] += a * 0.0, seen[k] += b * 0.0, seen[k] += c * 0.0, seen[k] += d * 0.0;
                    quad turned[W];
                    turn_lanes(a, b, c, d, turned);
                    for (int i = 0; i < W; ++i) use(q, l + i, turned[i]);
                }
            }
            for (int k = 0; k < VECTORS; ++k) lanes.seen[k] += seen[k];
        });
    }

    static void put(const std::vector<Quad>& quads, const double* nonzeros, Lanes& lanes, const OfLanes<double>& to) {
        move(quads, nonzeros, lanes, [&](const Quad& q, int l, quad values) { at(to[l], q) = values; });
    }

    static void put_scaled(const std::vector<Quad>& quads, Lanes& lanes, const OfLanes<const double>& scale,
                           const OfLanes<double>& to) {
        move(quads, lanes.from.jacobian, lanes,
             [&](const Quad& q, int l, quad values) { at(to[l], q) = scale[l][q.row] * values; });
    }

    std::vector<Quad> objective, dynamics, light_values, equalities, inequalities, hessian;
};

}  // namespace trisweep
