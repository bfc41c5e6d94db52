// A controller: a plan that moves on by a step a cycle (`Cycle`), and what stands around that: parameters, limits, the measured
// state, deadlines, a solve where there is no step. Python's controllers and exported ones are this one.
#pragma once

#include <memory>

#include "ocp/solve/solver.hpp"
#include "port.hpp"
#include "stated_limits.hpp"

namespace trisweep {

// How a controller goes about it.
struct Loop {
    double seconds = INFINITY;   // deadline of a feedback
    int iterations = 1;          // of a cycle, at most
    double barrier = 1e-6;       // the least mu
    bool moves_on = true;        // the horizon, by a step every cycle
    Settings settings;           // of solves
    Shift shift;                 // of a plan that moves on
    std::vector<Port> measured;  // the states whose first values are: a row each
    std::vector<int> anchors;    // places among the parameters of the stages that are no parameters
};

class Controller {
public:
    // What a cycle found. The controls are in `control`, and keep their limits whatever the status.
    struct Command {
        bool stepped = false;             // false: the cycle was a solve, and ended with this status
        Status status = Status::stalled;  // "solved" as the judge has it
        int iterations = 0;
        double error = INFINITY;  // the scaled KKT error of the plan that the last step started from
        double seconds = 0.0;     // from the measurement to the command
        bool late = false;
        double prepared = 0.0;  // seconds before the measurement
    };

    Controller(const Structure& structure, StatedLimits limits, Loop loop);
    Controller(const Controller&) = delete;

    // Before the measurement: the plan moved on, functions and factorization for the parameters as they are. False where their
    // limits contradict each other; nothing is changed then.
    bool prepare();
    // With it: the values of the measured states in a row.
    Command feedback(const double* values);
    // Whether there are numbers in all of them.
    bool accepts(const double* values) const;
    // The next cycle solves from z.
    void restart();

    // A solve on its own, from z or, warm, from the last answer; the first values of measured states are those in z.
    Status solve(bool warm);

    // The plan as it is: a result, judged or not, and with its parameters.
    const Result& plan();
    const Result& result();
    const Numbers& answer();

    bool has_plan() const { return planned; }
    bool following() const { return follows; }  // the plan is one of steps
    int measured_size() const { return size_measured; }

    Numbers given;  // parameters, and where the first solve starts from; written by the caller
    std::vector<double> control;
    std::vector<int> limited;  // of every control, cycles in which the command was at one of its limits
    Loop loop;

private:
    Command stepped(const double* values);
    Command solved(const double* values, Stopwatch::clock::time_point begin);
    Status begun(const double* values, double seconds);
    Status resumed(const double* values, double seconds);
    Status judged(Status status) const;
    void measure(const double* values);
    Status run(bool warm, double seconds);
    void take(const Result& result);
    void move_on();
    void put_parameters(double* stage_parameters) const;
    void keep_limits();

    Solver solver;
    StatedLimits limits;
    Numbers start;                // of the solve that comes
    std::vector<double> y, w;     // its multipliers
    std::vector<int> parameters;  // places among the parameters of the stages that are some
    std::vector<int> fixed;       // places in z of what is measured
    std::vector<double> coordinates;
    int size_measured = 0;
    bool unfinished = false;  // a solve has run out of time: the next cycle goes on with it
    bool planned = false, follows = false, ready = false, prepared = false, last_solved = false;
    double last_error = INFINITY, prepare_seconds = 0.0;
};

}  // namespace trisweep
