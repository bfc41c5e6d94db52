// Compiled code as the core calls it (`native/compiler/llvm_ir/driver.py` has the convention).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace trisweep {

using Evaluate = void (*)(const double* const* inputs, const std::int64_t* input_strides, double* const* outputs,
                          const std::int64_t* output_strides, std::int64_t count, double* work);

// A number without its sign that has the largest exponent reaches the sign's place when one is added to that; numbers
// together reach it if one of them does.
class Finite {
public:
    void see(double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        found |= (bits & 0x7fffffffffffffffu) + 0x0010000000000000u;
    }

    explicit operator bool() const { return !(found >> 63); }

private:
    std::uint64_t found = 0;
};

inline bool all_finite(const double* x, std::ptrdiff_t size) {
    Finite finite;
    for (std::ptrdiff_t i = 0; i < size; ++i) finite.see(x[i]);
    return bool(finite);
}

// Code of the core's own that is called in the same way.
class Code {
public:
    struct Memory {
        virtual ~Memory() = default;
    };

    virtual ~Code() = default;
    // What one caller at a time works in.
    virtual std::unique_ptr<Memory> memory() const = 0;
    virtual void evaluate(const double* const* inputs, const std::int64_t* input_strides, double* const* outputs,
                          const std::int64_t* output_strides, std::int64_t count, Memory& memory) const = 0;
    // True if all is finite that `evaluate` has just written in this memory's work, outputs of these sizes.
    virtual bool finite(double* const* outputs, const std::int64_t* sizes, std::size_t number, std::int64_t count,
                        const Memory&) const {
        for (std::size_t k = 0; k < number; ++k)
            if (!all_finite(outputs[k], count * sizes[k])) return false;
        return true;
    }
};

// Compiled code as such.
class CompiledCode : public Code {
public:
    CompiledCode(Evaluate address, std::size_t work) : address(address), work(work) {}

    std::unique_ptr<Memory> memory() const override { return std::make_unique<Work>(work); }

    void evaluate(const double* const* inputs, const std::int64_t* input_strides, double* const* outputs,
                  const std::int64_t* output_strides, std::int64_t count, Memory& memory) const override {
        address(inputs, input_strides, outputs, output_strides, count, static_cast<Work&>(memory).numbers.get());
    }

private:
    struct Work : Memory {
        explicit Work(std::size_t size) : numbers(new double[size + 1]) {}
        std::unique_ptr<double[]> numbers;
    };

    const Evaluate address;
    const std::size_t work;
};

}  // namespace trisweep
