#include "controller.hpp"

namespace trisweep {
namespace {

// The scaled KKT error above which, or so many times that of the cycle before, a plan is given up for a new one. Where a
// horizon moves on, its new tail alone makes errors of about 1. No small one proves anything: it depends on the units.
constexpr double LOST = 1e3, GROWN = 30.0;
// Seconds that a solve in place of a step is given at least: the deadline may be over by then.
constexpr double LEAST = 1e-6;
// A deadline of so many times what a solve needs at the least leaves time for one, in a cycle that begins with it.
constexpr double ENOUGH = 1.2;

struct Nobody : Watcher {
    bool watch(const Record&) override { return false; }
    bool interrupted() override { return false; }
};

double since(Stopwatch::clock::time_point begin) {
    return std::chrono::duration<double>(Stopwatch::clock::now() - begin).count();
}

}  // namespace

Controller::Controller(const Structure& structure, StatedLimits stated, Loop given_loop)
    : control(structure.nu[0]), loop(std::move(given_loop)), solver(structure), limits(std::move(stated)) {
    const Result& result = solver.collect();
    given.z.resize(result.z.size()), given.shared.resize(structure.shared_parameters);
    given.stage.resize(structure.stage_parameters);
    start = given;
    y.resize(result.y.size()), w.resize(result.w.size());
    solver.set_shift(loop.shift);
    solver.reserve(loop.settings);
    for (const Port& port : loop.measured) size_measured += port.size;
    for (const int i : structure.fixed) fixed.push_back(structure.nu[0] + i);
    coordinates.resize(fixed.size());
    std::vector<bool> is_anchor(structure.stage_parameters);
    for (const int i : loop.anchors) is_anchor[i] = true;
    for (int i = 0; i < structure.stage_parameters; ++i)
        if (!is_anchor[i]) parameters.push_back(i);
}

bool Controller::prepare() {
    const auto begin = Stopwatch::clock::now();
    if (limits.parametric() && !limits.set(given.shared.data(), given.stage.data())) return false;
    if (follows) {
        put_parameters(solver.renew_parameters(given.shared));
        const bool same = !limits.parametric() ||
                          solver.move_bounds(limits.z_low(), limits.z_high(), limits.c_low(), limits.c_high());
        ready = solver.prepare(loop.moves_on) && same;
    }
    prepared = true;
    prepare_seconds = since(begin);
    return true;
}

bool Controller::accepts(const double* values) const {
    for (const Port& port : loop.measured) {
        if (!port.accepts(values)) return false;
        values += port.size;
    }
    return true;
}

Controller::Command Controller::feedback(const double* values) {
    const auto begin = Stopwatch::clock::now();
    if (!prepared && !prepare()) return {};
    Command command = follows && ready ? stepped(values) : Command{};
    if (!command.stepped) command = solved(values, begin);
    last_error = command.error;
    command.seconds = since(begin);
    command.late = command.seconds > loop.seconds;
    command.prepared = prepare_seconds;
    ready = prepared = false;
    prepare_seconds = 0.0;
    return command;
}

void Controller::restart() {
    planned = follows = ready = prepared = last_solved = false;
    last_error = INFINITY;
}

Controller::Command Controller::stepped(const double* values) {
    const double* at = values;
    for (const Port& port : loop.measured) {
        port.put(at, start);
        port.turn(at, solver.stage_parameters(), start.z);
        at += port.size;
    }
    for (std::size_t i = 0; i < fixed.size(); ++i) coordinates[i] = start.z[fixed[i]];
    const Solver::Taken taken = solver.feedback(coordinates, loop.iterations, loop.seconds, control);
    const bool fine = taken.fine && taken.error <= std::min(LOST, GROWN * std::max(last_error, 1.0));
    return {fine, Status::stalled, taken.steps, taken.error};
}

// From the plan as it stands, moved on; from z where there is none.
Controller::Command Controller::solved(const double* values, Stopwatch::clock::time_point begin) {
    const bool again = planned;
    start = given;
    if (again) {
        take(solver.collect());
        if (loop.moves_on && !follows) move_on();
    }
    for (const Port& port : loop.measured) {
        port.put(values, start);
        values += port.size;
    }
    const double left = std::max(loop.seconds - since(begin), LEAST);
    // The plan as it is, where a whole cycle's time would do for a solve and what is left of this one does not.
    if (again && left < solver.least_seconds() && loop.seconds > ENOUGH * solver.least_seconds()) {
        follows = last_solved = false;
        return {false, Status::time_limit, 0};
    }
    const Status status = run(again && (last_solved || follows), again ? left : loop.settings.seconds);
    follows = last_solved = status == Status::solved;
    const Result& result = solver.collect();
    if (all_finite(std::ptrdiff_t(control.size()), result.z.data()))  // else what was commanded last stands
        std::copy_n(result.z.begin(), control.size(), control.begin());
    if (follows) solver.take_over(loop.barrier);
    return {false, status, result.iterations, follows ? 0.0 : double(INFINITY)};
}

Status Controller::solve(bool warm) {
    if (limits.parametric() && !limits.set(given.shared.data(), given.stage.data())) return Status::infeasible;
    start = given;
    warm = warm && planned;
    if (warm) {
        take(solver.collect());
        for (const Port& port : loop.measured)
            for (int i = 0; i < port.size; ++i)
                port.z[i] >= 0 ? void(start.z[port.z[i]] = given.z[port.z[i]])
                               : void(start.stage[port.stage[i]] = given.stage[port.stage[i]]);
    }
    const Status status = run(warm, loop.settings.seconds);
    last_solved = status == Status::solved;
    follows = ready = prepared = false;
    return status;
}

// From `start`, y and w.
Status Controller::run(bool warm, double seconds) {
    Nobody nobody;
    Settings settings = loop.settings;
    settings.warm_start = warm, settings.seconds = std::min(seconds, settings.seconds);
    solver.set_parameters(start.shared, start.stage);
    solver.set_bounds(limits.z_low(), limits.z_high(), limits.c_low(), limits.c_high());
    solver.set_guess(start.z);
    if (warm) solver.set_multipliers(y, w);
    const Result& result = solver.solve(settings, nobody);
    planned = true;
    return result.status == Status::solved && !solver.holds() ? Status::stalled : result.status;
}

// An answer as a start for the present parameters.
void Controller::take(const Result& result) {
    start.z = result.z, start.stage = result.stage_parameters;
    y = result.y, w = result.w;
    put_parameters(start.stage.data());
}

void Controller::move_on() {
    const Shift& from = loop.shift;
    for (std::size_t i = 0; i < from.z.size(); ++i) start.z[i] = start.z[from.z[i]], w[i] = w[from.z[i]];
    for (std::size_t i = 0; i < from.y.size(); ++i) y[i] = y[from.y[i]];
    for (const int i : loop.anchors) start.stage[i] = start.stage[from.stage_parameters[i]];
}

void Controller::put_parameters(double* stage_parameters) const {
    for (const int i : parameters) stage_parameters[i] = given.stage[i];
}

const Result& Controller::plan() { return solver.plan(); }

const Result& Controller::result() { return solver.collect(); }

const Numbers& Controller::answer() {
    const Result& result = solver.collect();
    start.z = result.z, start.shared = given.shared, start.stage = result.stage_parameters;
    return start;
}

}  // namespace trisweep
