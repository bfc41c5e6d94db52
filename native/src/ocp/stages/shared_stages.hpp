// The stages of a block, run by run, on as many threads as there are. What comes of it does not depend on their number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "block.hpp"
#include "kernels/threads.hpp"

namespace trisweep {

class SharedStages {
public:
    Threads threads;

    // The first stage at fault of the last block that was shared, counted from its first, or the number of its stages.
    int first_fault() const { return fault.load(); }

    // job(first, last, thread), which gives the first stage with a fault or -1, on runs of the block's stages, counted from
    // its first; the runs begin at whole groups of lanes. True where no run has a fault.
    template <class Job>
    bool share(const Block& block, const Job& job) {
        const int groups = (block.count + block.lanes - 1) / block.lanes;
        const int pieces = std::min({groups, PIECES_EACH * threads.count(), Threads::MOST_PIECES});
        fault.store(block.count, std::memory_order_relaxed);
        const auto run = [&](int first, int last, int thread) {
            const int bad = job(first, last, thread);
            for (int worst = fault.load(); bad >= 0 && bad < worst && !fault.compare_exchange_weak(worst, bad);) {
            }
        };
        if (threads.count() == 1 || groups == 1) {
            run(0, block.count, 0);
        } else {
            threads.run(pieces, [&](int piece, int thread) {
                const auto edge = [&](std::int64_t i) { return int(groups * i / pieces) * block.lanes; };
                run(edge(piece), std::min(edge(piece + 1), block.count), thread);
            });
        }
        return first_fault() == block.count;
    }

private:
    static constexpr int PIECES_EACH = 4;  // that a thread would do of a block, if all were as fast
    std::atomic<int> fault{0};
};

}  // namespace trisweep
