// Many solves of one problem for other numbers, on several threads: a `Solver` of its own for each, which takes the next
// problem as soon as it has finished one. An answer depends on its numbers only, never on the threads or on its
// neighbours: it is what a single solve gives, bit by bit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "solver.hpp"

namespace trisweep {

// A vector for each problem, or one for all of them.
struct Rows {
    const double* data = nullptr;
    std::size_t rows = 0, size = 0;

    std::span<const double> operator[](std::size_t i) const { return {data + (rows == 1 ? 0 : i) * size, size}; }
};

// What the problems of a batch have apiece, as `Solver` takes it; no multipliers: cold starts.
struct BatchInputs {
    Rows shared, stage_parameters, z, y, w, z_low, z_high, c_low, c_high;
    bool warm = false;
};

// Where answers go, a row a problem: plain arrays of the caller's, of the sizes in `Result`. What is no vector there has one
// number a problem, or these: of `counts` iterations, evaluations, differentiations, factorizations; of `times` seconds of the
// solve, in functions, in linear algebra; of `faults` block, stage, row.
struct AnswerRows {
    struct Part {
        double* data = nullptr;
        std::size_t size = 1;

        double* operator[](std::size_t i) const { return data + i * size; }
    };
    static constexpr std::size_t COUNTS = 4, TIMES = 3, FAULTS = 3;

    Part statuses, z, y, w, stage_parameters, gains, counts, times, objectives, residuals, relative_residuals, faults,
        record_counts;

    void put(std::size_t i, const Result& result) const {
        copy_to(z[i], result.z), copy_to(y[i], result.y), copy_to(w[i], result.w);
        copy_to(stage_parameters[i], result.stage_parameters), copy_to(gains[i], result.gains);
        const Times& t = result.times;
        put_numbers(
            i, result.status, result.records.size(),
            {double(result.iterations), double(t.evaluations), double(t.differentiations), double(t.factorizations)},
            {result.seconds, t.functions, t.linear}, result.fault);
        *objectives[i] = result.verdict.objective;
        *residuals[i] = result.verdict.residual.worst();
        *relative_residuals[i] = result.verdict.relative.worst();
    }

    // A problem that nobody has begun: NaN.
    void leave_out(std::size_t i) const {
        for (const Part* part : {&z, &y, &w, &stage_parameters, &gains, &objectives, &residuals, &relative_residuals})
            std::fill_n((*part)[i], part->size, std::numeric_limits<double>::quiet_NaN());
        put_numbers(i, Status::interrupted, 0, {}, {}, Fault());
    }

private:
    static void copy_to(double* to, const std::vector<double>& from) { std::copy(from.begin(), from.end(), to); }

    void put_numbers(std::size_t i, Status status, std::size_t records, const std::array<double, COUNTS>& count,
                     const std::array<double, TIMES>& seconds, const Fault& fault) const {
        *statuses[i] = double(status);
        *record_counts[i] = double(records);
        std::copy(count.begin(), count.end(), counts[i]);
        std::copy(seconds.begin(), seconds.end(), times[i]);
        const std::array<double, FAULTS> at{double(fault.block), double(fault.stage), double(fault.row)};
        std::copy(at.begin(), at.end(), faults[i]);
    }
};

class Batch {
public:
    // Looks on from the calling thread; `watch` is told how many problems are finished, and true from it ends the batch.
    struct Overseer {
        virtual ~Overseer() = default;
        virtual bool watch(std::size_t finished) = 0;
    };

    explicit Batch(const Structure& structure) : structure(structure) {}
    Batch(const Batch&) = delete;

    // Of all problems, in their order, into rows that are the caller's. Where the overseer ended it, the rest is "interrupted"
    // and NaN. Gives the records of all iterations, problem after problem.
    std::vector<Record> solve(std::size_t count, const BatchInputs& inputs, const AnswerRows& answers,
                              Settings settings, int threads, Overseer& overseer) {
        const std::size_t working = std::max<std::size_t>(1, std::min<std::size_t>(threads, count));
        while (workers.size() < working) workers.push_back(std::make_unique<Worker>(structure));
        settings.threads = 1;
        settings.warm_start = inputs.warm;
        Run run(count, answers);
        std::vector<std::thread> threads_at_work;
        threads_at_work.reserve(working);
        try {
            for (std::size_t i = 0; i < working; ++i)
                threads_at_work.emplace_back([&, i] { workers[i]->work(inputs, settings, run); });
        } catch (...) {  // the system has no more of them to give: fewer do the work
            if (threads_at_work.empty()) throw;
        }
        oversee(run, threads_at_work.size(), overseer);
        for (std::thread& thread : threads_at_work) thread.join();
        if (run.raised) std::rethrow_exception(run.raised);
        std::vector<Record> all;
        std::size_t records = 0;
        for (const Written& w : run.written) records += w.count;
        all.reserve(records);
        for (std::size_t i = 0; i < count; ++i) {
            const Written& w = run.written[i];
            if (!w.by)
                answers.leave_out(i);
            else
                all.insert(all.end(), w.by->records.begin() + w.first, w.by->records.begin() + w.first + w.count);
        }
        for (const std::unique_ptr<Worker>& worker : workers) worker->records = {};
        return all;
    }

    // Throws where a row has another size than what is to go there.
    void expect_room(const AnswerRows& answers) const {
        std::size_t z = 0, y = 0, gains = 0;
        for (std::size_t k = 0; k < structure.nx.size(); ++k) {
            const std::size_t nu = structure.nu[k], nx = structure.nx[k];
            z += nu + nx, gains += nu * nx;
            y += (k ? nx : 0) + structure.equalities[k] + structure.inequalities[k];
        }
        Packing::expect_size("room for z", answers.z.size, z);
        Packing::expect_size("room for w", answers.w.size, z);
        Packing::expect_size("room for y", answers.y.size, y);
        Packing::expect_size("room for gains", answers.gains.size, gains);
        Packing::expect_size("room for stage_parameters", answers.stage_parameters.size, structure.stage_parameters);
    }

private:
    static constexpr std::chrono::milliseconds LOOK{20};  // between two looks of the overseer

    struct Worker;

    // Who has solved a problem, and where among his records its own are.
    struct Written {
        const Worker* by = nullptr;
        std::size_t first = 0, count = 0;
    };

    // One batch under way; the lock guards what has no atomic.
    struct Run : Watcher {
        Run(std::size_t count, const AnswerRows& answers) : answers(answers), written(count) {}

        bool watch(const Record&) override { return stopped.load(std::memory_order_relaxed); }
        bool interrupted() override { return stopped.load(std::memory_order_relaxed); }

        const AnswerRows& answers;
        std::vector<Written> written;  // of every problem
        std::atomic<std::size_t> next{0}, finished{0};
        std::atomic<bool> stopped{false};
        std::mutex lock;
        std::condition_variable changed;
        std::size_t gone = 0;  // workers that have nothing left to do
        std::exception_ptr raised;
    };

    // What a thread has to itself.
    struct Worker {
        explicit Worker(const Structure& structure) : solver(structure) {}

        void work(const BatchInputs& inputs, const Settings& settings, Run& run) {
            try {
                records.clear();
                bool first = true;
                for (std::size_t i; !run.stopped && (i = run.next++) < run.written.size(); ++run.finished) {
                    take(inputs, i, first);
                    const Result& result = solver.solve(settings, run);
                    run.answers.put(i, result);
                    run.written[i] = {this, records.size(), result.records.size()};
                    records.insert(records.end(), result.records.begin(), result.records.end());
                    first = false;
                }
            } catch (...) {
                const std::lock_guard guard(run.lock);
                if (!run.raised) run.raised = std::current_exception();
                run.stopped = true;
            }
            const std::lock_guard guard(run.lock);
            ++run.gone;
            run.changed.notify_all();
        }

        // The numbers of a problem; those that all have in common come with the first.
        void take(const BatchInputs& inputs, std::size_t i, bool first) {
            const auto& [shared, stage_parameters, z, y, w, z_low, z_high, c_low, c_high, warm] = inputs;
            solver.set_parameters(shared[i], stage_parameters[i]);
            if (first || std::max({z_low.rows, z_high.rows, c_low.rows, c_high.rows}) > 1)
                solver.set_bounds(z_low[i], z_high[i], c_low[i], c_high[i]);
            if (first || z.rows > 1) solver.set_guess(z[i]);
            if (warm && (first || std::max(y.rows, w.rows) > 1)) solver.set_multipliers(y[i], w[i]);
        }

        Solver solver;
        std::vector<Record> records;  // of all that it has solved
    };

    static void oversee(Run& run, std::size_t working, Overseer& overseer) {
        std::unique_lock guard(run.lock);
        while (!run.changed.wait_for(guard, LOOK, [&] { return run.gone == working; })) {
            guard.unlock();
            if (overseer.watch(run.finished)) run.stopped = true;
            guard.lock();
        }
    }

    Structure structure;
    std::vector<std::unique_ptr<Worker>> workers;
};

}  // namespace trisweep
