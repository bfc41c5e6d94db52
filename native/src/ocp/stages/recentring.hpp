// Changes of coordinates on runs of stages of the same sizes whose states lie on a manifold: (x, parameters of the stage), the
// state as increments from a place that the parameters hold, to the same state with that place as its origin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/compiled.hpp"
#include "riccati/riccati.hpp"

namespace trisweep {

struct Recentring {
    int first = 0, count = 0;
    int at_stage = 0, per_stage = 0;  // place and number of the parameters of a stage
    Evaluate function = nullptr;
    std::int64_t work = 0;
};

class Recentrings {
public:
    explicit Recentrings(std::vector<Recentring> all) : all(std::move(all)) {}

    bool empty() const { return all.empty(); }

    void lay_out(Arena& a, const Riccati& riccati) {
        int most_x = 0, most_parameters = 0;
        std::int64_t most_work = 0;
        for (const Recentring& each : all) {
            most_x = std::max(most_x, each.count * riccati.stages[each.first].nx);
            most_parameters = std::max(most_parameters, each.count * each.per_stage);
            most_work = std::max(most_work, each.work);
        }
        moved_x = a.vector(most_x), moved_parameters = a.vector(most_parameters), work = a.vector(int(most_work));
    }

    // Make the present place of every state on a manifold the origin of its coordinates.
    void apply(const Riccati& riccati, double* z, double* stage_parameters) const {
        for (const Recentring& each : all) {
            const Riccati::Stage& s = riccati.stages[each.first];
            double *x = z + s.at_z + s.up, *here = stage_parameters + each.at_stage;
            const double* inputs[] = {x, here};
            double* outputs[] = {moved_x, moved_parameters};
            const std::int64_t from[] = {s.n, each.per_stage}, to[] = {s.nx, each.per_stage};
            each.function(inputs, from, outputs, to, each.count, work);
            for (int k = 0; k < each.count; ++k)
                std::copy_n(moved_x + std::ptrdiff_t(k) * s.nx, s.nx, x + std::ptrdiff_t(k) * s.n);
            std::copy_n(moved_parameters, std::ptrdiff_t(each.count) * each.per_stage, here);
        }
    }

private:
    std::vector<Recentring> all;
    double *moved_x, *moved_parameters, *work;
};

}  // namespace trisweep
