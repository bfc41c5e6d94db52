// What a solve tells of itself: a record an iteration, who reads it, and where the time went.
#pragma once

#include <chrono>

namespace trisweep {

struct Record {
    int iteration;
    double objective, infeasibility, dual_infeasibility, complementarity, mu, step, delta, alpha_primal, alpha_dual;
    int trials;
    // f: Armijo on the objective, h: less violation, s: second-order correction, w: watchdog, r: restoration, t: tiny,
    // p: predictor and corrector
    char kind;
};

// Who looks on while a solve runs, and may end it.
class Watcher {
public:
    virtual ~Watcher() = default;
    // Sees every iteration as it begins; true asks for an end.
    virtual bool watch(const Record&) { return false; }
    // Asked once an iteration; true asks for an end.
    virtual bool interrupted() { return false; }
};

struct Times {
    double functions = 0.0, linear = 0.0;  // seconds
    int evaluations = 0, differentiations = 0, factorizations = 0;

    void add(const Times& other) {
        functions += other.functions;
        linear += other.linear;
        evaluations += other.evaluations;
        differentiations += other.differentiations;
        factorizations += other.factorizations;
    }
};

// Adds the time of its life to a total.
class Stopwatch {
public:
    using clock = std::chrono::steady_clock;
    explicit Stopwatch(double& total) : total(total), begin(clock::now()) {}
    ~Stopwatch() { total += std::chrono::duration<double>(clock::now() - begin).count(); }

private:
    double& total;
    clock::time_point begin;
};

}  // namespace trisweep
