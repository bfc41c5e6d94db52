// A few threads that share the pieces of a piece of work. The caller takes part: it never waits for a thread that is still
// waking up, only for pieces that others have begun. Between uses the threads sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

namespace trisweep {

class Threads {
public:
    Threads() = default;
    Threads(const Threads&) = delete;
    ~Threads() { dismiss(); }

    int count() const { return int(workers.size()) + 1; }

    // The caller counts as one of them. Where the system has no more of them to give, fewer do the work.
    void resize(int wanted) {
        if (wanted == count()) return;
        dismiss();
        leaving.store(false);
        workers.reserve(wanted);
        process = getpid();
        try {
            for (int i = 1; i < wanted; ++i) workers.emplace_back([this, i] { serve(i); });
        } catch (const std::system_error&) {
        }
    }

    // work(piece, thread) for every piece, at most MOST_PIECES of them, each on one of the threads; returns when all are done.
    template <class Work>
    void run(int pieces, const Work& work) {
        context = &work;
        call = [](const void* context, int piece, int thread) { (*static_cast<const Work*>(context))(piece, thread); };
        done.store(0, std::memory_order_relaxed);
        const std::uint64_t turn = (ticket.load(std::memory_order_relaxed) >> TURN) + 1;
        ticket.store(turn << TURN | std::uint64_t(pieces) << PIECES, std::memory_order_release);
        ticket.notify_all();
        take_pieces(0);
        for (int left = PATIENCE; done.load(std::memory_order_acquire) < pieces; --left)
            left < 0 ? std::this_thread::yield() : relax();
    }

    static constexpr int MOST_PIECES = 0xffff;

private:
    // A ticket says which turn it is, how many pieces that has, and which is the next one to be taken.
    static constexpr int TURN = 32, PIECES = 16;
    static constexpr std::uint64_t MASK = 0xffff;
    static constexpr int PATIENCE = 20000;  // looks before a thread gives its core to others: half a millisecond

    void take_pieces(int thread) {
        std::uint64_t now = ticket.load(std::memory_order_acquire);
        while ((now & MASK) < (now >> PIECES & MASK)) {
            if (!ticket.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_acquire))
                continue;
            call(context, int(now & MASK), thread);
            done.fetch_add(1, std::memory_order_release);
            now = ticket.load(std::memory_order_acquire);
        }
    }

    static void relax() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    void serve(int thread) {
        int patience = 0;  // the next piece of work often follows at once
        while (!leaving.load(std::memory_order_acquire)) {
            const std::uint64_t seen = ticket.load(std::memory_order_acquire);
            if ((seen & MASK) < (seen >> PIECES & MASK)) {
                take_pieces(thread);
                patience = PATIENCE;
            } else if (--patience > 0) {
                relax();
            } else {
                ticket.wait(seen, std::memory_order_acquire);
            }
        }
    }

    void dismiss() {
        if (!workers.empty() && process != getpid()) {  // a fork: they stayed behind, and nothing can be asked of them
            new std::vector<std::thread>(std::move(workers));
            workers.clear();
            return;
        }
        leaving.store(true);
        const std::uint64_t turn = (ticket.load() >> TURN) + 1;
        ticket.store(turn << TURN);
        ticket.notify_all();
        for (std::thread& worker : workers) worker.join();
        workers.clear();
    }

    std::vector<std::thread> workers;
    pid_t process = 0;  // whose they are
    std::atomic<std::uint64_t> ticket{0};
    std::atomic<int> done{0};
    std::atomic<bool> leaving{false};
    const void* context = nullptr;
    void (*call)(const void*, int, int) = nullptr;
};

}  // namespace trisweep
