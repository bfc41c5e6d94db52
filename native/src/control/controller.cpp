#include "controller.hpp"

namespace trisweep {
namespace {

// The scaled KKT error above which, or so many times that of the cycle before, a plan is given up for a new one. Where a
// horizon moves on, its new tail alone makes errors of about 1. No small one proves anything: it depends on the units.
constexpr double LOST = 1e3, GROWN = 30.0;
// Share of a control's range, within which it counts as being at a limit.
constexpr double AT_LIMIT = 1e-3;
// Seconds that a solve in place of a step is given at least: the deadline may be over by then.
constexpr double LEAST = 1e-6;
// A deadline of so many times what the start of a solve takes leaves time for it in a cycle that begins with it.
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
    : control(structure.nu[0]),
      limited(structure.nu[0]),
      loop(std::move(given_loop)),
      solver(structure),
      limits(std::move(stated)) {
    const Result& result = solver.collect();
    given.z.resize(result.z.size()), given.shared.resize(structure.shared_parameters);
    given.stage.resize(structure.stage_parameters);
    start = given;
    y.resize(result.y.size()), w.resize(result.w.size());
    solver.set_shift(loop.shift);
    solver.reserve(loop.settings);
    solver.judges_unfinished = false;
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
    if (follows || unfinished) {
        put_parameters(solver.renew_parameters(given.shared));
        const bool same = !limits.parametric() ||
                          solver.move_bounds(limits.z_low(), limits.z_high(), limits.c_low(), limits.c_high());
        if (loop.moves_on) solver.move_on();
        ready = follows && solver.prepare() && same;
        unfinished = unfinished && same;
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
    keep_limits();
    command.seconds = since(begin);
    command.late = command.seconds > loop.seconds;
    command.prepared = prepare_seconds;
    ready = prepared = false;
    prepare_seconds = 0.0;
    return command;
}

void Controller::restart() {
    planned = follows = unfinished = ready = prepared = last_solved = false;
    last_error = INFINITY;
}

// A plan may miss its limits by the tolerance; what goes to an actuator does not.
void Controller::keep_limits() {
    const StatedLimits::View low = limits.z_low(), high = limits.z_high();
    for (std::size_t i = 0; i < control.size(); ++i) {
        control[i] = std::clamp(control[i], low[i], high[i]);
        const double near = AT_LIMIT * std::min(high[i] - low[i], std::max(1.0, std::fabs(control[i])));
        limited[i] += control[i] - low[i] <= near || high[i] - control[i] <= near;
    }
}

Controller::Command Controller::stepped(const double* values) {
    measure(values);
    const Solver::Taken taken = solver.feedback(coordinates, loop.iterations, loop.seconds, control);
    const bool fine = taken.fine && taken.error <= std::min(LOST, GROWN * std::max(last_error, 1.0));
    return {fine, Status::stalled, taken.steps, taken.error};
}

// The coordinates of measured values about the plan's anchors.
void Controller::measure(const double* values) {
    for (const Port& port : loop.measured) {
        port.put(values, start);
        port.turn(values, solver.stage_parameters(), start.z);
        values += port.size;
    }
    for (std::size_t i = 0; i < fixed.size(); ++i) coordinates[i] = start.z[fixed[i]];
}

// A solve, or the next iterations of one that ran out of time.
Controller::Command Controller::solved(const double* values, Stopwatch::clock::time_point begin) {
    const bool first = !planned;
    const double left = std::max(loop.seconds - since(begin), LEAST), least = solver.start_seconds();
    if (!first && !unfinished && left < least && loop.seconds > ENOUGH * least) {  // the next cycle solves
        follows = last_solved = false;
        return {false, Status::time_limit, 0};
    }
    const Status status = unfinished ? resumed(values, left) : begun(values, left);
    follows = last_solved = status == Status::solved;
    unfinished = status == Status::time_limit && !first;
    const Result& result = solver.collect();
    if (all_finite(std::ptrdiff_t(control.size()), result.z.data()))  // else what was commanded last stands
        std::copy_n(result.z.begin(), control.size(), control.begin());
    if (follows) solver.take_over(loop.barrier);
    return {false, status, result.iterations, follows ? 0.0 : double(INFINITY)};
}

// From the plan as it stands, moved on; from z where there is none, and then for as long as it takes.
Status Controller::begun(const double* values, double seconds) {
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
    return run(again && (last_solved || follows), again ? seconds : loop.settings.seconds);
}

Status Controller::resumed(const double* values, double seconds) {
    Nobody nobody;
    Settings settings = loop.settings;
    settings.warm_start = true, settings.seconds = seconds;
    measure(values);
    return judged(solver.resume(settings, coordinates, nobody).status);
}

// "Solved" as the judge has it.
Status Controller::judged(Status status) const {
    return status == Status::solved && !solver.holds() ? Status::stalled : status;
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
    follows = unfinished = ready = prepared = false;
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
    planned = true;
    return judged(solver.solve(settings, nobody).status);
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
