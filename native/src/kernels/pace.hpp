// Whether work that comes again and again, with the same results either way, is quicker on several threads than on one. That depends
// on how far apart their cores are, for whatever one writes and another reads; and a system may move them.
#pragma once

#include <chrono>

namespace trisweep {

class Pace {
public:
    // A piece of work begins: on several threads or on one?
    bool begin() {
        const bool known = seconds[true] > 0.0 && seconds[false] > 0.0;
        shares = known ? (seconds[true] < seconds[false]) != (++since % LOOK == 0) : seconds[true] == 0.0;
        began = clock::now();
        return shares;
    }

    // It is done; what is left half-way says nothing.
    void end() {
        const double taken = std::chrono::duration<double>(clock::now() - began).count();
        seconds[shares] = seconds[shares] > 0.0 ? 0.5 * (seconds[shares] + taken) : taken;
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr int LOOK = 32;  // pieces after which the slower way is tried once more

    bool shares = true;
    int since = 0;
    double seconds[2] = {};  // of late, on one and on several; 0: not known
    clock::time_point began;
};

}  // namespace trisweep
