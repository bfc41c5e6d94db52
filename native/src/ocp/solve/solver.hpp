// An optimal-control problem and all that solves it: structure and functions once, then parameters, bounds, a guess and
// perhaps multipliers for each solve. It knows nothing of who calls it.
#pragma once

#include <span>
#include <vector>

#include "cycle.hpp"
#include "ocp/judge/judge.hpp"
#include "ocp/stages/structure.hpp"
#include "packing.hpp"
#include "rescaling.hpp"
#include "restoration.hpp"
#include "result.hpp"
#include "starting_point.hpp"

namespace trisweep {

// A plain matrix of the caller's, row after row.
struct MatrixView {
    const double* entries;
    std::size_t rows, columns;
};

// Constants of a quadratic stage: 1/2 z'H z + h'z, G z + g = 0, C z + c, and the edge from its parent, x = E z_parent + b.
struct QuadraticData {
    MatrixView H, G, C, E;
    std::span<const double> h, g, c, b;
};

class Solver : private Supervisor {
public:
    explicit Solver(const Structure& s);
    ~Solver() override;  // apart, and with it all that is virtual: whoever includes this compiles none of the solve

    void set_parameters(std::span<const double> shared, std::span<const double> stage_parameters) {
        Packing::expect_size("shared parameters", shared.size(), horizon.parameter_count);
        Packing::expect_size("parameters of the stages", stage_parameters.size(), horizon.stage_parameter_count);
        std::copy(shared.begin(), shared.end(), horizon.parameters);
        std::copy(stage_parameters.begin(), stage_parameters.end(), horizon.stage_parameters);
    }

    // Of a problem whose structure is quadratic and has no blocks.
    void set_quadratic(int k, const QuadraticData& data);

    // What each of these takes is said in `Result` and `Packing`.
    void set_bounds(std::span<const double> z_low, std::span<const double> z_high, std::span<const double> c_low,
                    std::span<const double> c_high) {
        start.set_bounds(z_low, z_high, c_low, c_high);
        judge.set_bounds(z_low, z_high, c_low, c_high);
    }
    void set_guess(std::span<const double> z) { start.set_guess(z); }
    // Beside the guess of a warm start: where to start cold instead, after a jump.
    void set_fallback(std::span<const double> z, std::span<const double> stage_parameters) {
        start.set_fallback(z, stage_parameters);
    }
    void set_multipliers(std::span<const double> y, std::span<const double> w) { start.set_multipliers(y, w); }

    // New bounds for the point of a cycle, which stays what it is, inside of them. False where one has come or gone.
    bool move_bounds(std::span<const double> z_low, std::span<const double> z_high, std::span<const double> c_low,
                     std::span<const double> c_high);

    // A controller's cycle from the point of the last solve; see `Cycle`. The barrier beside a cost of less than 1 is a share
    // of that, by the scale that the judge found: it would drown it otherwise.
    void take_over(double barrier);
    // How a plan moves on.
    void set_shift(const Shift& shift);
    // Parameters of the next cycle: those that stages share, and the place of their own.
    double* renew_parameters(std::span<const double> shared);
    const double* stage_parameters() const { return horizon.stage_parameters; }
    // The plan by a step.
    void move_on();
    bool prepare();
    struct Taken {
        bool fine = false;  // false: the plan is lost, or the measured state is beyond the reach of its limits
        int steps = 0;
        double error = 0.0;  // of the point where the last step began
    };
    // The first control from the measured state after so many steps, fewer where one would end too late. Where limits cut the
    // last one to nothing there is one more, in this cycle or the next, from further inside of them.
    Taken feedback(std::span<const double> measured, int steps, double seconds, std::span<double> control);

    // What solves take at least until their first iteration, by those before; 0: there was none.
    double start_seconds() const;

    // The point as a result; judged.
    const Result& collect();
    const Result& plan();

    // Whether the judge agreed, when it was asked last.
    bool holds() const { return result.verdict.relative.worst() <= SLACK * tolerance; }

    // Memory for the records of a solve.
    void reserve(const Settings& settings);
    // The result stays what it is until the next solve.
    const Result& solve(const Settings& settings, Watcher& caller);
    // A solve that ran out of time goes on for at least an iteration, from where it stands and from another measured state.
    const Result& resume(const Settings& settings, std::span<const double> measured, Watcher& caller);
    bool judges_unfinished = true;  // whether the judge is asked where the time has run out

private:
    static constexpr int FORGETTING = 16;           // cycles in which a step that took long is forgotten
    static constexpr int MOST_RESERVED = 100000;    // records
    static constexpr double UNHURRIED = 1e6;        // seconds that nobody counts by microseconds
    static constexpr int HASTE = 200;               // iterations after which the rules that seldom fail are asked
    static constexpr int LONGER = 200;              // more, by these, from where the others have led
    static constexpr double FURTHER_INSIDE = 1e-5;  // the mu by which a saddle is left
    static constexpr int ROUNDS = 10;               // of scaling anew where the statement's conditions do not hold yet
    static constexpr double SLACK =
        3.0;  // within which two computations of an error are the same; the caller's own is larger
    static constexpr double MOVED = 10.0;                  // times the tolerance: a share of the objective that counts
    static constexpr int LINGERING = 5;                    // iterations
    static constexpr double CLEARLY = 0.1;                 // of the tolerance: nothing is left to be done
    static constexpr int PATIENCE = 15, MOST_ASKED = 300;  // iterations in which that is sought, and any
    static constexpr double LEAST_TOLERANCE = 1e-18;       // of the scaled problem
    static constexpr double MUCH_STEEPER = 0.01,
                            STEEPER = 0.5;  // factors of scaling anew that matter during a solve, and after it

    static Stopwatch::clock::time_point deadline(Stopwatch::clock::time_point begin, double seconds) {
        constexpr double FOREVER = 1e8;
        if (seconds >= FOREVER) return Stopwatch::clock::time_point::max();
        return begin + std::chrono::duration_cast<Stopwatch::clock::duration>(std::chrono::duration<double>(seconds));
    }

    static bool failed(Status status) { return status == Status::infeasible || status == Status::stalled; }
    static bool lost(Status status) {
        return status == Status::not_minimal || status == Status::not_finite || status == Status::unbounded;
    }

    // The judge's word on the point as it is now.
    void ask_judge() {
        collect_point();
        if (judged_by_caller()) return;
        result.verdict = judge.measure(result.z.data(), result.y.data(), result.w.data(), horizon.parameters,
                                       result.stage_parameters.data());
    }

    // Of constants without functions, which the judge cannot ask.
    bool judged_by_caller() const { return horizon.blocks.empty(); }

    // Of a solution of the scaled problem whose rows are off by more of their summands than the judge would have, or by what moves
    // the objective: it is cheaper to correct them at once than to be refused.
    void correct_rows() {
        const Iterate& point = interior_point.point;
        if (program.convex || (horizon.rows_hold(point.v, point.r, tolerance) && !rows_move_cost())) return;
        interior_point.correct_rows();
    }

    // Whether the objective would be another one if the rows held.
    bool rows_move_cost() const {
        const Iterate& point = interior_point.point;
        const double moved =
            sum_over(program.size_y, [&](int i) { return magnitude(load(point.y + i) * load(point.r + i)); });
        return moved > MOVED * tolerance * std::fabs(point.f);
    }

    // From a solution of the scaled problem that is none of the statement: until the judge agrees. Where that does not come
    // about, the point is no worse for it, but nothing is proven of the problem.
    Status go_on() {
        scaled_anew = asks_judge = true;
        asked = 0;
        const Conditions& off = result.verdict.relative;  // what is beyond its limits is moved
        refused_at = std::max(off.bounds, off.inequalities) > SLACK * tolerance ? -1 : interior_point.iteration;
        interior_point.settings.tolerance =
            std::max(LEAST_TOLERANCE, interior_point.settings.tolerance *
                                          rescaling.run(interior_point.point, result, SLACK * tolerance));
        interior_point.convergence.forgiving = false;
        Status status = interior_point.point.evaluate() ? interior_point.run() : Status::not_finite;
        asks_judge = false;
        if (!agreed) ask_judge();
        // The curvature was looked at where the scaled problem was solved: so close to its bounds little can be said of it.
        if (status == Status::solved || status == Status::not_minimal || holds()) return Status::solved;
        const bool cut =
            status == Status::iteration_limit || status == Status::time_limit || status == Status::interrupted;
        return cut ? status : Status::stalled;
    }

    // Without a cost whatever meets the rows is a solution, with multipliers of zero: nothing is left to be found of them.
    bool holds_without_cost() {
        Iterate& point = interior_point.point;
        if (program.convex || horizon.has_cost() || program.excess.size > 0 ||
            largest_size(program.size_y, point.r) > tolerance)
            return false;
        collect_point();
        std::fill(result.y.begin(), result.y.end(), 0.0), std::fill(result.w.begin(), result.w.end(), 0.0);
        result.verdict = judge.measure(result.z.data(), result.y.data(), result.w.data(), horizon.parameters,
                                       result.stage_parameters.data());
        if (!(result.verdict.relative.worst() <= CLEARLY * tolerance)) return false;
        std::fill_n(point.y, program.size_y, 0.0);
        for (Bounds* b : {&program.lower, &program.upper}) std::fill_n(b->dual, b->size, 0.0);
        program.clear_hessian();
        return agreed = true;
    }

    bool confirmed() override {
        if (holds_without_cost()) return true;
        if (!asks_judge) return lingers() && holds_but_for_limits();
        if (interior_point.iteration == refused_at) return false;
        ask_judge();
        return agreed = result.verdict.relative.worst() <= (++asked <= PATIENCE ? CLEARLY : 1.0) * tolerance;
    }

    // Whether the error has been small beside the cost for a while, though not small as it is: along directions in which nothing
    // curves it may stay so. Of the objective counts what its slopes bear out: a constant in it says nothing.
    bool lingers() {
        const double error = interior_point.convergence.error(0.0), most = std::fabs(interior_point.point.f);
        const auto small = [&](double cost) { return error <= tolerance * std::max(1.0, cost); };
        lingering = small(most) && small(std::min(most, sum_of_cost_terms())) ? lingering + 1 : 0;
        return lingering > LINGERING && !interior_point.predictor_corrector.on;
    }

    double sum_of_cost_terms() const {
        const double* v = interior_point.point.v;
        return sum_over(riccati.size_z, [&](int i) { return magnitude(load(horizon.gradient + i) * load(v + i)); });
    }

    // By the judge's word; what is beyond limits is moved later.
    bool holds_but_for_limits() {
        ask_judge();
        Conditions relative = result.verdict.relative;
        relative.bounds = relative.inequalities = 0.0;
        return relative.worst() <= tolerance;
    }

    // That is asked of restoration elsewhere: here, whether to ask no longer.
    bool good_enough() override { return asks_judge && asked > MOST_ASKED; }

    void begin(const Settings& settings, Watcher& caller);
    // The judge's word on what was found, and more iterations where that is no.
    void confirm();
    // The same; a saddle is left, once.
    void settle();
    const Result& end();

    Status run() {
        lingering = 0;
        const auto begin = Stopwatch::clock::now();
        const bool fine = start.prepare(interior_point, scaled_anew);
        if (program.convex) be_patient(interior_point.settings);  // the quick rule is its own
        program.copy_place(start_place);
        quickest_start = std::min(quickest_start, Stopwatch::clock::now() - begin);
        return fine ? interior_point.run() : Status::not_finite;
    }

    Status run_scaled_anew() {
        scaled_anew = true;
        program.set_place(start_place);
        return run();
    }

    // A convex quadratic program once more from its start, by the filter: the rule that is quick for most is not safe for all.
    Status run_without_predictor() {
        program.convex = false;
        program.set_place(start_place);
        return start.prepare(interior_point, true) ? interior_point.run() : Status::not_finite;
    }

    // Whether a cold start goes by rules that mostly take fewer iterations and now and then fail. Where they have taken many, the
    // others go on from there for a while: the filter with a mu that falls monotonely, and restoration only where there is no
    // step. Where that does not lead to a solution either, or they fail, the problem is solved once more from its start.
    static bool hurries(const Settings& settings) {
        return (settings.barrier != BarrierRule::monotone || settings.curvature != CurvatureRule::shifted ||
                settings.patience > 0) &&
               !settings.warm_start;
    }
    bool ended_early() const {
        return result.status == Status::iteration_limit && interior_point.iteration < most_iterations;
    }
    void be_patient(Settings& settings) const {
        settings.barrier = BarrierRule::monotone;
        settings.curvature = CurvatureRule::shifted;
        settings.patience = 0;
        settings.iterations = most_iterations;
    }
    Status go_on_patiently() {
        be_patient(interior_point.settings);
        interior_point.settings.iterations = std::min(most_iterations, interior_point.iteration + LONGER);
        interior_point.mu.hold();
        const Status status = interior_point.run();
        return status == Status::outgrown ? Status::stalled : status;
    }
    Status run_patiently(const Settings& settings) {
        interior_point.settings = settings;
        interior_point.settings.warm_start = false;
        be_patient(interior_point.settings);
        interior_point.convergence.forgiving = true;
        scaled_anew = false;
        program.set_place(start_place);
        return run();
    }

    // From a saddle: it is none any more a little further inside the bounds.
    Status leave_saddle() {
        Iterate& point = interior_point.point;
        Retreat::run(program, FURTHER_INSIDE, point.v);
        point.mu = FURTHER_INSIDE;
        const Status status = point.evaluate() ? interior_point.run() : Status::not_finite;
        return status == Status::outgrown ? Status::stalled : status;
    }

    // Where a solve is in trouble with rows much steeper than at its start, which no slope there foretold: once, scale them by
    // their slopes here too, if that is by a factor below `matters`.
    bool scale_anew(double matters) { return !scaled_anew && start.scale_further(interior_point.point.v, matters); }

    bool watch(const Record& seen) override {
        Record record = seen;
        record.objective /= horizon.objective_scale;
        result.records.push_back(record);
        agreed = false;
        return watcher->watch(record);
    }

    bool interrupted() override { return watcher->interrupted(); }

    Status restore() override {
        const Status status = restoration.run();
        return status == Status::restored && scale_anew(MUCH_STEEPER) ? Status::outgrown : status;
    }

    void collect_point() {
        const Iterate& point = interior_point.point;
        const double inverse = 1.0 / horizon.objective_scale;
        for (std::size_t i = 0; i < packing.z.size(); ++i) {
            const int at = packing.z[i];
            result.z[i] = point.v[at];
            result.w[i] = inverse * (program.upper.dual[at] - program.lower.dual[at]);
        }
        for (std::size_t i = 0; i < packing.y.size(); ++i) {
            const int at = packing.y[i];
            result.y[i] = inverse * horizon.row_scale[at] * point.y[at];
        }
        std::copy_n(horizon.stage_parameters, horizon.stage_parameter_count, result.stage_parameters.begin());
    }

    void finish() {
        double* K = result.gains.data();
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            riccati.gain(int(k), K);
            K += riccati.stages[k].nu * riccati.stages[k].nx;
        }
        result.iterations = interior_point.iteration;
        result.times = interior_point.point.times;
        result.fault = horizon.fault;
    }

    Riccati riccati;
    Horizon horizon;
    OptimalControl program;
    Packing packing;
    StartingPoint start;
    Judge judge;
    Rescaling rescaling;
    InteriorPoint interior_point;
    Restoration restoration;
    Cycle cycle;
    Watcher* watcher = nullptr;  // of the solve that runs
    Result result;
    Arena arena;
    double* start_place;
    double tolerance = 0.0;   // of the statement's conditions
    int most_iterations = 0;  // of a solve, all its runs together
    bool scaled_anew = false, asks_judge = false;
    // Of the solves before: until their first iteration, and from their last one to the judge's word.
    Stopwatch::clock::duration quickest_start = Stopwatch::clock::duration::max(), quickest_end = quickest_start;
    Stopwatch::clock::duration usual_step = Stopwatch::clock::duration::zero();  // of a cycle, with its functions
    Stopwatch::clock::time_point began;                                          // the solve that runs
    int losses = 0;       // steps of a cycle, one after the other, that came to nothing
    int lingering = 0;    // iterations, one after the other, whose error was small beside the objective
    int asked = 0;        // the judge, since it was last said that a solution is none
    int refused_at = -1;  // the iteration at which that was
    bool agreed = false;  // the judge, with the point as it is
};

}  // namespace trisweep
