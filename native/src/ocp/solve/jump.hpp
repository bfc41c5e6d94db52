// How far the problem has moved away from a point that solved another one: the largest error of a row beside what is added up in
// it where every variable is as large as it is anywhere along the motion. In a row of the dynamics that is the state, twice.
#pragma once

#include <algorithm>
#include <cmath>

#include "largest_values.hpp"

namespace trisweep {

class Jump {
public:
    Jump(const OptimalControl& program, const Packing& packing, const std::vector<int>& variables)
        : program(program), packing(packing), largest(packing, variables) {
        arena.build([this](Arena& a) { size = a.vector(this->program.riccati.size_z); });
    }

    // At v, where J is that of `differentiate` and the rows are r.
    double measure(const double* v, const double* r) {
        measure_sizes(v);
        const Horizon& horizon = program.horizon;
        const auto& stages = program.riccati.stages;
        double most = 0.0;
        for (std::size_t k = 0; k < stages.size(); ++k) {
            const Riccati::Stage& s = stages[k];
            for (int i = 0; k && i < s.nx; ++i)
                note(r[s.at_x + i] / horizon.dynamics_scale[s.at_x + i], 2.0 * size[s.at_z + s.up + i], most);
            const auto row = [&](const double* slopes, double value, double error) {
                vec linear{}, sizes{};
                for (int t = 0; t < s.n; t += W) {
                    linear += load(slopes + t) * load(v + s.at_z + t);
                    sizes += magnitude(load(slopes + t)) * load(size + s.at_z + t);
                }
                note(error, sum(sizes) + std::fabs(value - sum(linear)), most);
            };
            const double *of_equality = r + program.at_eta() + s.at_g,
                         *of_inequality = r + program.at_nu() + horizon.at_c[k];
            for (int i = 0; i < s.ng; ++i) row(s.G + i * s.n, of_equality[i], of_equality[i]);
            for (int i = 0; i < horizon.inequality_count[k]; ++i)
                row(horizon.C(int(k)) + i * s.n, of_inequality[i] + v[program.at_slack() + horizon.at_c[k] + i],
                    of_inequality[i]);
        }
        return most;
    }

private:
    static constexpr double NOTICED =
        0.01;  // share of the largest value of all, or of 1, that a variable counts as at least

    // Of every variable its largest value; increments of a state on a manifold count as 1.
    void measure_sizes(const double* v) {
        largest.clear(program.horizon.recentrings.empty() ? 0.0 : 1.0);
        double all = 1.0;
        for (std::size_t i = 0; i < packing.z.size(); ++i) {
            double& most = largest[i];
            most = std::max(most, std::fabs(v[packing.z[i]]));
            all = std::max(all, most);
        }
        for (std::size_t i = 0; i < packing.z.size(); ++i) size[packing.z[i]] = std::max(largest[i], NOTICED * all);
    }

    static void note(double error, double terms, double& most) {
        if (error != 0.0) most = std::max(most, std::fabs(error) / terms);
    }

    const OptimalControl& program;
    const Packing& packing;
    LargestValues largest;
    Arena arena;
    double* size;  // along z
};

}  // namespace trisweep
