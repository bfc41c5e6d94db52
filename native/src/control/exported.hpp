// What stands behind the C interface of an exported solver: a controller, and names to give and to take numbers by.
#pragma once

#include <utility>

#include "controller.hpp"

namespace trisweep {

class Exported {
public:
    static constexpr int UNDER_WAY = int(Status::not_minimal) + 1, REFUSED = -1;

    // given: NaN where a number has to be set first.
    Exported(const Structure& structure, StatedLimits limits, Loop loop, std::vector<Port> names, const Numbers& given)
        : controller(structure, std::move(limits), std::move(loop)), names(std::move(names)) {
        controller.given = given;
    }

    bool set(int name, const double* values) {
        if (name < 0 || name >= int(names.size()) || !names[name].accepts(values)) return false;
        names[name].put(values, controller.given);
        return true;
    }

    bool get(int name, double* values) {
        if (name < 0 || name >= int(names.size())) return false;
        names[name].get(controller.answer(), values);
        return true;
    }

    // The first values of measured states for a solve on its own.
    bool start(const double* values) {
        if (!controller.accepts(values)) return false;
        for (const Port& port : controller.loop.measured) {
            port.put(values, controller.given);
            values += port.size;
        }
        return true;
    }

    int solve(bool warm) {
        if (!complete() || !finite(controller.given.z)) return REFUSED;
        last = {};
        last.status = controller.solve(warm);
        last.iterations = controller.result().iterations;
        last.seconds = controller.result().seconds;
        return int(last.status);
    }

    bool prepare() { return complete() && controller.prepare(); }

    int feedback(const double* values, double* command) {
        if (!complete() || !controller.accepts(values)) return REFUSED;
        last = controller.feedback(values);
        std::copy(controller.control.begin(), controller.control.end(), command);
        return last.stepped ? UNDER_WAY : int(last.status);
    }

    Controller controller;
    Controller::Command last;

private:
    // Whether all parameters have been set.
    bool complete() const { return finite(controller.given.shared) && finite(controller.given.stage); }

    static bool finite(const std::vector<double>& numbers) {
        return all_finite(std::ptrdiff_t(numbers.size()), numbers.data());
    }

    std::vector<Port> names;
};

}  // namespace trisweep
