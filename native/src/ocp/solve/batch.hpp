// Many solves of one problem for other numbers, on several threads: a `Solver` of its own for each, which takes the next
// problem as soon as it has finished one. An answer depends on its numbers only, never on the threads or on its
// neighbours: it is what a single solve gives, bit by bit.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
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

class Batch {
public:
    // Looks on from the calling thread; `watch` is told how many problems are finished, and true from it ends the batch.
    struct Overseer {
        virtual ~Overseer() = default;
        virtual bool watch(std::size_t finished) = 0;
    };

    explicit Batch(const Structure& structure) : structure(structure) {}
    Batch(const Batch&) = delete;

    // The answers in the order of the problems. Where the overseer ended it, the rest is "interrupted" and empty.
    std::vector<Result> solve(std::size_t count, const BatchInputs& inputs, Settings settings, int threads,
                              Overseer& overseer) {
        const std::size_t working = std::max<std::size_t>(1, std::min<std::size_t>(threads, count));
        while (workers.size() < working) workers.push_back(std::make_unique<Worker>(structure));
        settings.threads = 1;
        settings.warm_start = inputs.warm;
        Run run(count);
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
        return std::move(run.results);
    }

private:
    static constexpr std::chrono::milliseconds LOOK{20};  // between two looks of the overseer

    // One batch under way; the lock guards what has no atomic.
    struct Run : Watcher {
        explicit Run(std::size_t count) : results(count) {
            for (Result& result : results) result.status = Status::interrupted;
        }

        bool watch(const Record&) override { return stopped.load(std::memory_order_relaxed); }
        bool interrupted() override { return stopped.load(std::memory_order_relaxed); }

        std::vector<Result> results;
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
                for (std::size_t i; !run.stopped && (i = run.next++) < run.results.size(); ++run.finished)
                    solve(inputs, i, settings, run);
            } catch (...) {
                const std::lock_guard guard(run.lock);
                if (!run.raised) run.raised = std::current_exception();
                run.stopped = true;
            }
            const std::lock_guard guard(run.lock);
            ++run.gone;
            run.changed.notify_all();
        }

        void solve(const BatchInputs& inputs, std::size_t i, const Settings& settings, Run& run) {
            solver.set_parameters(inputs.shared[i], inputs.stage_parameters[i]);
            solver.set_bounds(inputs.z_low[i], inputs.z_high[i], inputs.c_low[i], inputs.c_high[i]);
            solver.set_guess(inputs.z[i]);
            if (inputs.warm) solver.set_multipliers(inputs.y[i], inputs.w[i]);
            run.results[i] = solver.solve(settings, run);
        }

        Solver solver;
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
