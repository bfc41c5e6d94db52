// Compiled code as the core calls it (`native/compiler/llvm_ir/driver.py` has the convention).
#pragma once

#include <cstdint>
#include <memory>

namespace trisweep {

using Evaluate = void (*)(const double* const* inputs, const std::int64_t* input_strides, double* const* outputs,
                          const std::int64_t* output_strides, std::int64_t count, double* work);

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
