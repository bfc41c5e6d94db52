// Locks of other libraries that a fork is to find free: it takes them first, and frees them in both processes. What they
// guard is whole in the child then, and nobody there waits for a thread that stayed behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace trisweep {

class HeldAtFork {
public:
    // From now on, in this order. The addresses are those of std::mutex objects that are never destroyed.
    static void hold(const std::vector<std::uintptr_t>& addresses) {
        if (locks().empty()) pthread_atfork(take, release, release);
        for (std::uintptr_t address : addresses) locks().push_back(reinterpret_cast<std::mutex*>(address));
    }

private:
    static std::vector<std::mutex*>& locks() {
        static std::vector<std::mutex*> all;
        return all;
    }

    // Who forks from Python holds Python's lock: in the pause, other threads come back to it from short calls into such a
    // library, whose other locks nobody knows.
    static void take() {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for (std::mutex* lock : locks()) lock->lock();
    }

    static void release() {
        for (auto lock = locks().rbegin(); lock != locks().rend(); ++lock) (*lock)->unlock();
    }
};

}  // namespace trisweep
