// Apart from its header, so that whoever uses it runs the same machine code.
#include "solver.hpp"

namespace trisweep {

Solver::Solver(const Structure& s)
    : riccati(s.nx, s.nu, s.equalities, s.parent, true),
      horizon(riccati, s.blocks, s.recentrings, s.inequalities, s.shared_parameters, s.stage_parameters, s.quadratic),
      program(riccati, horizon, s.fixed, !s.price.empty()),
      packing(program),
      start(program, packing, s),
      judge(s),
      rescaling(program, packing, start, judge),
      interior_point(program, *this),
      restoration(program, interior_point, *this),
      cycle(program, interior_point) {
    arena.build([this](Arena& a) { start_place = a.vector(program.size_place); });
    for (std::size_t i = 0; i < s.price.size(); ++i)
        program.excess.set_price(packing.c[i] - program.at_slack(), s.price[i], s.price_growth[i]);
    result.z.resize(packing.z.size());
    result.w.resize(packing.z.size());
    result.y.resize(packing.y.size());
    result.stage_parameters.resize(horizon.stage_parameter_count);
    std::size_t gains = 0;
    for (const Riccati::Stage& stage : riccati.stages) gains += std::size_t(stage.nu) * stage.nx;
    result.gains.resize(gains);
}

Solver::~Solver() = default;

void Solver::set_quadratic(int k, const QuadraticData& data) {
    if (!horizon.quadratic() || !horizon.blocks.empty())
        throw std::invalid_argument(
            "the constants of a stage are given where the structure is quadratic, without blocks");
    if (k < 0 || std::size_t(k) >= riccati.stages.size()) throw std::invalid_argument("no such stage");
    Riccati::Stage& s = riccati.stages[k];
    const QuadraticStages::Constants& here = horizon.quadratic()->at(k);
    const auto along = [](const Riccati::Stage& stage, int i) { return i < stage.nu ? i : stage.up + i - stage.nu; };
    const auto place = [&](const char* name, const MatrixView& m, int rows, const Riccati::Stage& stage, double* to) {
        Packing::expect_size(name, m.rows, rows);
        Packing::expect_size(name, m.rows * m.columns, std::size_t(rows) * (stage.nu + stage.nx));
        for (int i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < m.columns; ++j)
                to[along(stage, int(j)) + std::ptrdiff_t(i) * stage.n] = m.entries[i * m.columns + j];
    };
    const auto put = [](const char* name, std::span<const double> from, int size, double* to) {
        Packing::expect_size(name, from.size(), size);
        std::copy(from.begin(), from.end(), to);
    };
    const int nz = s.nu + s.nx;
    Packing::expect_size("H", data.H.rows * data.H.columns, std::size_t(nz) * nz);
    Packing::expect_size("h", data.h.size(), nz);
    for (int j = 0; j < nz; ++j) {
        here.h[along(s, j)] = data.h[j];
        for (int i = j; i < nz; ++i)
            here.H[along(s, i) + std::ptrdiff_t(along(s, j)) * s.n] = data.H.entries[std::size_t(i) * nz + j];
    }
    horizon.constants_changed();
    QuadraticStages& constants = *horizon.quadratic();
    place("G", data.G, s.ng, s, here.G);
    place("C", data.C, horizon.inequality_count[k], s, here.C);
    put("g", data.g, s.ng, constants.g0 + s.at_g);
    put("c", data.c, horizon.inequality_count[k], constants.c0 + horizon.at_c[k]);
    if (s.parent < 0) return;
    place("E", data.E, s.nx, riccati.stages[s.parent], s.E);
    put("b", data.b, s.nx, constants.b0 + s.at_x);
}

bool Solver::move_bounds(std::span<const double> z_low, std::span<const double> z_high, std::span<const double> c_low,
                         std::span<const double> c_high) {
    set_bounds(z_low, z_high, c_low, c_high);
    return start.move_bounds(interior_point.point);
}

void Solver::take_over(double barrier) {
    cycle.least_mu = barrier * std::min(1.0, judge.cost * horizon.objective_scale);
    cycle.take_over();
}

void Solver::set_shift(const Shift& shift) { cycle.set_shift(shift, packing); }

double* Solver::renew_parameters(std::span<const double> shared) {
    Packing::expect_size("shared parameters", shared.size(), horizon.parameter_count);
    std::copy(shared.begin(), shared.end(), horizon.parameters);
    return horizon.stage_parameters;
}

void Solver::move_on() { cycle.move_on(); }

bool Solver::prepare() { return cycle.prepare(); }

Solver::Taken Solver::feedback(std::span<const double> measured, int steps, double seconds, std::span<double> control) {
    const auto end = deadline(Stopwatch::clock::now(), seconds);
    Packing::expect_size("the measured state", measured.size(), program.fixed_places().size());
    Packing::expect_size("the control", control.size(), riccati.stages[0].nu);
    Taken taken{cycle.feedback(measured), 1, cycle.error};
    losses = cycle.lost() ? losses + 1 : 0;
    for (; taken.fine && taken.steps < steps + (losses == 1); ++taken.steps) {
        const auto begin = Stopwatch::clock::now();
        if (end - begin < usual_step) {  // for ever, if what one step took in a pause of the machine were not forgotten
            if (taken.steps == 1) usual_step -= usual_step / FORGETTING;
            break;
        }
        taken.fine = cycle.prepare();
        if (!taken.fine || Stopwatch::clock::now() > end) break;
        taken.fine = cycle.feedback({});
        taken.error = cycle.error;
        losses = cycle.lost() ? losses + 1 : 0;
        const auto took = Stopwatch::clock::now() - begin;
        usual_step = took < usual_step ? usual_step - (usual_step - took) / FORGETTING : took;
    }
    taken.fine = taken.fine && losses <= 1;
    std::copy_n(interior_point.point.v + riccati.stages[0].at_z, control.size(), control.begin());
    return taken;
}

double Solver::start_seconds() const {
    if (quickest_start == Stopwatch::clock::duration::max()) return 0.0;
    return std::chrono::duration<double>(quickest_start).count();
}

const Result& Solver::collect() {
    collect_point();
    return result;
}

const Result& Solver::plan() {
    ask_judge();
    return result;
}

void Solver::reserve(const Settings& settings) {
    result.records.reserve(std::size_t(std::min(settings.iterations, MOST_RESERVED)) + 2);
}

void Solver::begin(const Settings& settings, Watcher& caller) {
    settings.check();
    watcher = &caller;
    interior_point.settings = settings;
    tolerance = settings.tolerance;
    most_iterations = settings.iterations;
    interior_point.point.times = {};
    interior_point.iteration = 0;
    horizon.set_threads(settings.threads);
    result.records.clear();
    reserve(settings);
    began = Stopwatch::clock::now();
    interior_point.deadline = deadline(began, settings.seconds);
    if (quickest_end != Stopwatch::clock::duration::max() && settings.seconds < UNHURRIED)
        interior_point.deadline -= quickest_end;  // which comes after the last iteration
    interior_point.convergence.forgiving = true;
    program.copy_place(start_place);
    scaled_anew = false;
    refused_at = -1;
    losses = lingering = asked = 0;
}

const Result& Solver::solve(const Settings& settings, Watcher& caller) {
    begin(settings, caller);
    interior_point.hurries = true;
    if (hurries(settings)) interior_point.settings.iterations = std::min(settings.iterations, HASTE);
    result.status = run();
    if (failed(result.status) && program.convex && bound_count(program) > 0) result.status = run_without_predictor();
    if (result.status == Status::outgrown) result.status = run_scaled_anew();
    settle();
    const bool hasty = hurries(interior_point.settings);
    if (hasty && ended_early()) {
        result.status = go_on_patiently();
        settle();
    }
    if (hasty && (failed(result.status) || lost(result.status) || ended_early())) {
        result.status = run_patiently(settings);
        if (result.status == Status::outgrown) result.status = run_scaled_anew();
        settle();
    }
    if (failed(result.status) && scale_anew(STEEPER)) {
        result.status = run_scaled_anew();
        settle();
    }
    return end();
}

const Result& Solver::resume(const Settings& settings, std::span<const double> measured, Watcher& caller) {
    begin(settings, caller);
    interior_point.hurries = false;
    const std::vector<int>& fixed = program.fixed_places();
    Packing::expect_size("the measured state", measured.size(), fixed.size());
    for (std::size_t i = 0; i < fixed.size(); ++i) interior_point.point.v[fixed[i]] = measured[i];
    result.status = interior_point.point.evaluate() ? interior_point.run() : Status::not_finite;
    confirm();
    return end();
}

void Solver::confirm() {
    lingering = 0;
    if (result.status == Status::time_limit && !judges_unfinished) {
        collect_point();
        result.verdict.relative.stationarity = INFINITY;
    } else {
        const auto asked_at = Stopwatch::clock::now();
        if (result.status == Status::solved) correct_rows();
        ask_judge();
        quickest_end = std::min(quickest_end, Stopwatch::clock::now() - asked_at);
    }
    for (int round = 0; round < ROUNDS && result.status == Status::solved && !holds(); ++round) result.status = go_on();
}

void Solver::settle() {
    confirm();
    if (result.status != Status::not_minimal || bound_count(program) == 0) return;
    result.status = leave_saddle();
    confirm();
}

const Result& Solver::end() {
    result.seconds = std::chrono::duration<double>(Stopwatch::clock::now() - began).count();
    finish();
    return result;
}

}  // namespace trisweep
