// From a solution of the scaled problem that does not solve the problem as it was stated, by the word of the judge: slopes
// may have changed since the problem was scaled, or its units are such that the scaled tolerance says little. What did not
// hold is scaled anew, by the sizes that the judge compared it with, the room beyond limits is reduced to the tolerance of
// those, and the solver's tolerance becomes what the rest asks for.
#pragma once

#include <algorithm>

#include "ocp/judge/judge.hpp"
#include "result.hpp"
#include "starting_point.hpp"

namespace trisweep {

class Rescaling {
public:
    Rescaling(OptimalControl& program, const Packing& packing, StartingPoint& start, const Judge& judge)
        : program(program), horizon(program.horizon), packing(packing), start(start), judge(judge) {
        arena.build([this](Arena& a) { row_factor = a.vector(this->program.size_y); });
    }

    // After the judge has measured `result`: takes the point with it. `allowed`: relative errors that are left alone. Returns
    // by how much smaller the errors of the scaled problem have to become.
    double run(Iterate& point, const Result& result, double allowed) {
        const Conditions& relative = result.verdict.relative;
        const double of_cost = std::max(relative.stationarity, relative.complementarity);
        double f = 1.0, smaller = 1.0;
        if (of_cost > allowed) {
            f = std::clamp(1.0 / (judge.cost * horizon.objective_scale), 1.0, MOST);
            smaller = std::min(smaller, f * allowed / of_cost);
        }
        std::fill_n(row_factor, program.size_y, 1.0);
        for (std::size_t i = 0; i < packing.y.size(); ++i) {
            const int row = packing.y[i];
            const double size = judge.size_of_row(i, result.y[i]), error = judge.error_of_row(i) / size;
            if (!(error > allowed)) continue;
            row_factor[row] = std::clamp(1.0 / (size * horizon.row_scale[row]), 1.0, MOST);
            smaller = std::min(smaller, row_factor[row] * allowed / error);
        }
        scale(point, f);
        tighten(point, result, allowed);
        return smaller;
    }

private:
    static constexpr double MOST = 1e8;  // by which anything is scaled at a time

    void scale(Iterate& point, double f) {
        horizon.objective_scale *= f;
        point.mu *= f;
        for (int i = 0; i < program.size_y; ++i) {
            horizon.row_scale[i] *= row_factor[i];
            point.y[i] *= f / row_factor[i];
        }
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) {
                const int slack = program.inequality_of(i);
                const double d = slack < 0 ? 1.0 : row_factor[program.at_nu() + slack];
                b->bound[i] *= d;
                b->dual[i] *= f / d;
            }
        for (int i = program.at_slack(); i < program.size_v; ++i)
            point.v[i] *= row_factor[program.at_nu() + program.inequality_of(i)];
        scale_constants();
    }

    // Rows that are constant are not computed again.
    void scale_constants() {
        for (std::size_t k = 0; k < program.riccati.stages.size(); ++k) {
            const Riccati::Stage& s = program.riccati.stages[k];
            const auto scale = [&](double factor, double* row) {
                for (int t = 0; factor != 1.0 && t < s.n; ++t) row[t] *= factor;
            };
            for (int i = 0; i < s.ng; ++i) scale(row_factor[program.at_eta() + s.at_g + i], s.G + i * s.n);
            for (int i = 0; i < horizon.inequality_count[k]; ++i)
                scale(row_factor[program.at_nu() + horizon.at_c[k] + i], horizon.C(int(k)) + i * s.n);
        }
    }

    // Limits that do not hold get less room, rows as much as their new scale gives; what that leaves outside comes in.
    void tighten(Iterate& point, const Result& result, double allowed) {
        for (std::size_t i = 0; i < packing.z.size(); ++i) {
            const double size = judge.size_of_bound(i, result.w[i]);
            if (judge.error_of_bound(i, result.z[i]) > allowed * size) start.limit_room(packing.z[i], size, point);
        }
        for (int i = 0; i < horizon.size_c; ++i)
            if (row_factor[program.at_nu() + i] > 1.0) start.limit_room(program.at_slack() + i, 1.0, point);
    }

    OptimalControl& program;
    Horizon& horizon;
    const Packing& packing;
    StartingPoint& start;
    const Judge& judge;
    Arena arena;
    double* row_factor;  // by which to scale anew
};

}  // namespace trisweep
