// The caller's vectors are plain, stage after stage without gaps; those of the core are padded. Where each entry stands:
//
//     z  (u, x) of all stages                                                        in v
//     c  the inequalities of all stages                                              in v, as slacks
//     y  dynamics of all stages but the root, then all equalities, then all inequalities    in y
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ocp/program/optimal_control.hpp"

namespace trisweep {

class Packing {
public:
    std::vector<int> z, c, y;

    explicit Packing(const OptimalControl& program) {
        const auto& stages = program.riccati.stages;
        const Horizon& horizon = program.horizon;
        for (const Riccati::Stage& s : stages) {
            run(s.at_z, s.nu, z);
            run(s.at_z + s.up, s.nx, z);
            if (s.parent >= 0) run(s.at_x, s.nx, y);
        }
        for (const Riccati::Stage& s : stages) run(program.at_eta() + s.at_g, s.ng, y);
        for (std::size_t k = 0; k < stages.size(); ++k) {
            run(program.at_slack() + horizon.at_c[k], horizon.inequality_count[k], c);
            run(program.at_nu() + horizon.at_c[k], horizon.inequality_count[k], y);
        }
    }

    static void unpack(const char* name, std::span<const double> from, const std::vector<int>& places, double* to) {
        expect_size(name, from.size(), places.size());
        for (std::size_t i = 0; i < from.size(); ++i) to[places[i]] = from[i];
    }

    static void expect_size(const char* name, std::size_t given, std::size_t expected) {
        if (given == expected) return;
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(given) + " entries, expected " +
                                    std::to_string(expected));
    }

private:
    static void run(int first, int count, std::vector<int>& places) {
        for (int i = 0; i < count; ++i) places.push_back(first + i);
    }
};

}  // namespace trisweep
