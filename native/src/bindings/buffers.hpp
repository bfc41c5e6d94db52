// NumPy's memory, read in place by the buffer protocol.
#pragma once

#include <cstring>
#include <vector>

#include "bind.hpp"

namespace trisweep {

// Memory of Python's objects, held while this lives.
class Buffers {
public:
    explicit Buffers(std::size_t most) { views.reserve(most); }
    ~Buffers() {
        for (Py_buffer& view : views) PyBuffer_Release(&view);
    }
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    // The doubles of an object, or null if it has none; valid until the next one if there are more than `most`.
    const Py_buffer* doubles(PyObject* object, bool to_write) {
        views.emplace_back();
        if (PyObject_GetBuffer(object, &views.back(), to_write ? PyBUF_RECORDS : PyBUF_RECORDS_RO)) {
            PyErr_Clear();
            views.pop_back();
            return nullptr;
        }
        const Py_buffer& view = views.back();
        if (!view.format || std::strcmp(view.format, "d") != 0) return nullptr;
        for (int axis = 0; axis < view.ndim; ++axis)
            if (view.strides[axis] % Py_ssize_t(sizeof(double))) return nullptr;
        return &view;
    }

private:
    std::vector<Py_buffer> views;
};

}  // namespace trisweep
