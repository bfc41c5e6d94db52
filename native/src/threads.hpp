// A few threads that wait, asleep, for pieces of work that may be done at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace trisweep {

class Threads {
public:
    Threads() = default;
    Threads(const Threads&) = delete;
    ~Threads() { dismiss(); }

    int count() const { return int(workers.size()) + 1; }

    // The caller counts as one of them.
    void resize(int wanted) {
        if (wanted == count()) return;
        dismiss();
        leaving = false;
        for (int i = 1; i < wanted; ++i) workers.emplace_back([this, i, seen = turn.load()] { serve(i, seen); });
    }

    // work(i) for i = 0 ... count() - 1, each on a thread of its own; returns when all are done.
    template <class Work>
    void run(const Work& work) {
        if (workers.empty()) return work(0);
        context = &work;
        call = [](const void* context, int i) { (*static_cast<const Work*>(context))(i); };
        busy.store(int(workers.size()), std::memory_order_relaxed);
        turn.fetch_add(1, std::memory_order_release);
        turn.notify_all();
        work(0);
        for (int i = 0; i < PATIENCE; ++i)
            if (busy.load(std::memory_order_acquire) == 0) return;
        for (int left; (left = busy.load(std::memory_order_acquire)) != 0;) busy.wait(left, std::memory_order_acquire);
    }

private:
    static constexpr int PATIENCE = 20000;  // looks at what is left before the caller too goes to sleep

    void serve(int i, unsigned seen) {
        for (;;) {
            turn.wait(seen, std::memory_order_acquire);
            seen = turn.load(std::memory_order_acquire);
            if (leaving) return;
            call(context, i);
            if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
        }
    }

    void dismiss() {
        leaving = true;
        turn.fetch_add(1, std::memory_order_release);
        turn.notify_all();
        for (std::thread& worker : workers) worker.join();
        workers.clear();
    }

    std::vector<std::thread> workers;
    std::atomic<unsigned> turn{0};
    std::atomic<int> busy{0};
    const void* context = nullptr;
    void (*call)(const void*, int) = nullptr;
    bool leaving = false;
};

}  // namespace trisweep
