// The limits of a solve: numbers, and functions of the parameters. `ocp/stages/limit_vectors.py` has the same for Python.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compiled.hpp"

namespace trisweep {

// (shared parameters, parameters of the stage) -> lower, upper; of some rows on a run of stages.
struct LimitFunction {
    Evaluate function = nullptr;
    std::int64_t work = 0;
    int stages = 0, rows = 0;
    int at_shared = 0, at_stage = 0, stage_stride = 0;
    std::vector<int> places;  // (stages, rows): among the limits; -1: of something fixed, which has none
};

class StatedLimits {
public:
    // lower, upper: of z, then of the inequalities; infinite where there is none.
    StatedLimits(std::vector<double> lower, std::vector<double> upper, std::size_t size_z,
                 std::vector<LimitFunction> given)
        : lower(std::move(lower)), upper(std::move(upper)), size_z(size_z), functions(std::move(given)) {
        std::int64_t most_work = 0, most = 0;
        for (const LimitFunction& f : functions) {
            most_work = std::max(most_work, f.work);
            most = std::max(most, std::int64_t(f.stages) * f.rows);
        }
        work.resize(most_work), low.resize(most), high.resize(most);
    }

    bool parametric() const { return !functions.empty(); }

    // For these parameters. False where a lower one is above the upper one, or not a number; nothing is changed then.
    bool set(const double* shared, const double* stage_parameters) {
        for (const bool write : {false, true})
            for (const LimitFunction& f : functions) {
                const double* inputs[] = {shared + f.at_shared, stage_parameters + f.at_stage};
                const std::int64_t from[] = {0, f.stage_stride}, to[] = {f.rows, f.rows};
                double* outputs[] = {low.data(), high.data()};
                f.function(inputs, from, outputs, to, f.stages, work.data());
                for (std::size_t i = 0; i < f.places.size(); ++i) {
                    if (!(low[i] <= high[i])) return false;
                    if (write && f.places[i] >= 0) lower[f.places[i]] = low[i], upper[f.places[i]] = high[i];
                }
            }
        return true;
    }

    using View = std::span<const double>;
    View z_low() const { return View(lower).first(size_z); }
    View z_high() const { return View(upper).first(size_z); }
    View c_low() const { return View(lower).subspan(size_z); }
    View c_high() const { return View(upper).subspan(size_z); }

private:
    std::vector<double> lower, upper;
    const std::size_t size_z;
    std::vector<LimitFunction> functions;
    std::vector<double> work, low, high;
};

}  // namespace trisweep
