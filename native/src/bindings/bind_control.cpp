// The controller as Python sees it: arrays by name go into the core's memory without Python on the way. What is not plain (lists,
// numbers, a refusal that wants a sentence) is left to Python.
#include "bind.hpp"
#include "buffers.hpp"
#include "control/controller.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>

namespace trisweep {
namespace {

using Memory = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

// Two threads ask one controller.
struct AtWork : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class PythonController {
public:
    PythonController(const Structure& structure, Vector lower, Vector upper, std::size_t size_z,
                     std::vector<LimitFunction> functions, const Loop& loop, std::vector<Port> parameters)
        : controller(structure,
                     StatedLimits({lower.data(), lower.data() + lower.size()},
                                  {upper.data(), upper.data() + upper.size()}, size_z, std::move(functions)),
                     loop),
          parameters(std::move(parameters)),
          first(controller.measured_size()) {
        for (const Port& port : this->parameters) parameter_names.push_back(nb::str(port.name.c_str()));
        for (const Port& port : controller.loop.measured) measured_names.push_back(nb::str(port.name.c_str()));
    }

    // Arrays of parameters by name. False where one of them is a case for Python; nothing is changed then.
    bool set(nb::dict given) {
        const Turn turn(*this);
        for (const bool write : {false, true}) {
            Py_ssize_t at = 0;
            PyObject *name, *value;
            while (PyDict_Next(given.ptr(), &at, &name, &value)) {
                const Port* port = find(name);
                Buffers buffers(1);
                const double* values = port ? doubles(buffers, value, *port) : nullptr;
                if (!values || !port->accepts(values)) return false;
                if (write) port->put(values, controller.given);
            }
        }
        return true;
    }

    // The measured states by name into `first`. False where that is a case for Python.
    bool measure(nb::dict given) {
        const Turn turn(*this);
        if (given.size() != measured_names.size()) return false;
        double* to = first.data();
        for (std::size_t i = 0; i < measured_names.size(); ++i) {
            const Port& port = controller.loop.measured[i];
            PyObject* value = PyDict_GetItemWithError(given.ptr(), measured_names[i].ptr());
            if (!value) {
                PyErr_Clear();
                return false;
            }
            Buffers buffers(1);
            const double* values = doubles(buffers, value, port);
            if (!values || !port.accepts(values)) return false;
            std::copy_n(values, port.size, to);
            to += port.size;
        }
        return true;
    }

    bool prepare() {
        const Turn turn(*this);
        Unlocked unlocked;
        return controller.prepare();
    }

    // With what is in `first`: (stepped, status, iterations, error, seconds, late, seconds of prepare).
    Tuple<bool, Status, int, double, double, bool, double> feedback() {
        const Turn turn(*this);
        Controller::Command command;
        {
            Unlocked unlocked;
            command = controller.feedback(first.data());
        }
        return nb::make_tuple(command.stepped, command.status, command.iterations, command.error, command.seconds,
                              command.late, command.prepared);
    }

    Result plan() {
        const Turn turn(*this);
        return controller.plan();
    }

    void restart() {
        const Turn turn(*this);
        controller.restart();
    }

    Controller controller;
    std::vector<Port> parameters;
    std::vector<double> first;

private:
    // One call at a time: others would see a plan that is half of another.
    class Turn {
    public:
        explicit Turn(PythonController& of) : busy(of.busy) {
            if (busy.test_and_set())
                throw AtWork("controller: it is at work on another thread, expected one at a time");
        }
        ~Turn() { busy.clear(); }
        Turn(const Turn&) = delete;

    private:
        std::atomic_flag& busy;
    };

    const Port* find(PyObject* name) const {
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (name == parameter_names[i].ptr() ||
                PyObject_RichCompareBool(name, parameter_names[i].ptr(), Py_EQ) == 1)
                return &parameters[i];
        return nullptr;
    }

    // The doubles of an array (rows, size), or (size,) where there is one row, one after the other; null if it is something else.
    static const double* doubles(Buffers& buffers, PyObject* value, const Port& port) {
        const Py_buffer* view = buffers.doubles(value, false);
        if (!view || view->ndim < 1 || view->ndim > 2) return nullptr;
        const int last = view->ndim - 1;
        const Py_ssize_t rows = last ? view->shape[0] : 1, size = view->shape[last];
        const bool plain = (size <= 1 || view->strides[last] == Py_ssize_t(sizeof(double))) &&
                           (rows <= 1 || view->strides[0] == size * Py_ssize_t(sizeof(double)));
        return plain && rows == port.rows && size == port.size && last == (port.rows > 1)
                   ? static_cast<const double*>(view->buf)
                   : nullptr;
    }

    std::vector<nb::str> parameter_names, measured_names;
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
};

template <std::vector<double> Numbers::* part>
Memory memory(PythonController& c) {
    return {(c.controller.given.*part).data(), {(c.controller.given.*part).size()}, nb::handle()};
}

void bind_parts(nb::module_& m) {
    nb::class_<Port>(m, "Port", "A variable or a parameter by its rows; see native/src/control/port.hpp.")
        .def(nb::init<>())
        .def_rw("name", &Port::name)
        .def_rw("rows", &Port::rows)
        .def_rw("size", &Port::size)
        .def_rw("z", &Port::z)
        .def_rw("shared", &Port::shared)
        .def_rw("stage", &Port::stage)
        .def_rw("groups", &Port::groups)
        .def_rw("increments", &Port::increments);
    nb::class_<LimitFunction>(m, "LimitFunction", "Limits that depend on parameters.")
        .def(nb::init<>())
        .def_rw("stages", &LimitFunction::stages)
        .def_rw("rows", &LimitFunction::rows)
        .def_rw("at_shared", &LimitFunction::at_shared)
        .def_rw("at_stage", &LimitFunction::at_stage)
        .def_rw("stage_stride", &LimitFunction::stage_stride)
        .def_rw("places", &LimitFunction::places)
        .def("set_function", [](LimitFunction& f, std::uintptr_t address, std::int64_t work) {
            f.function = reinterpret_cast<Evaluate>(address);
            f.work = work;
        });
    nb::class_<Shift>(m, "Shift", "A plan that moves on by a step; see native/src/ocp/solve/cycle.hpp.")
        .def(nb::init<>())
        .def_rw("z", &Shift::z)
        .def_rw("y", &Shift::y)
        .def_rw("stage_parameters", &Shift::stage_parameters);
    nb::class_<Loop>(m, "Loop", "How a controller goes about it; see native/src/control/controller.hpp.")
        .def(nb::init<>())
        .def_rw("seconds", &Loop::seconds)
        .def_rw("iterations", &Loop::iterations)
        .def_rw("barrier", &Loop::barrier)
        .def_rw("moves_on", &Loop::moves_on)
        .def_rw("settings", &Loop::settings)
        .def_rw("shift", &Loop::shift)
        .def_rw("measured", &Loop::measured)
        .def_rw("anchors", &Loop::anchors);
}

}  // namespace

void bind_control(nb::module_& m) {
    bind_parts(m);
    nb::exception<AtWork>(m, "AtWork", PyExc_RuntimeError);
    nb::class_<PythonController>(m, "Controller", "A plan that moves on; `trisweep.ocp` is its public face.")
        .def(nb::init<const Structure&, Vector, Vector, std::size_t, std::vector<LimitFunction>, const Loop&,
                      std::vector<Port>>())
        .def("set", &PythonController::set)
        .def("measure", &PythonController::measure)
        .def("prepare", &PythonController::prepare)
        .def("feedback", &PythonController::feedback)
        .def("restart", &PythonController::restart)
        .def("plan", &PythonController::plan)
        .def_prop_ro("z", &memory<&Numbers::z>, nb::rv_policy::reference_internal)
        .def_prop_ro("shared", &memory<&Numbers::shared>, nb::rv_policy::reference_internal)
        .def_prop_ro("stage", &memory<&Numbers::stage>, nb::rv_policy::reference_internal)
        .def_prop_ro(
            "first", [](PythonController& c) { return Memory(c.first.data(), {c.first.size()}, nb::handle()); },
            nb::rv_policy::reference_internal)
        .def_prop_ro(
            "control",
            [](PythonController& c) {
                return Memory(c.controller.control.data(), {c.controller.control.size()}, nb::handle());
            },
            nb::rv_policy::reference_internal)
        .def_prop_ro("limited", [](PythonController& c) { return c.controller.limited; })
        .def_prop_ro("has_plan", [](PythonController& c) { return c.controller.has_plan(); })
        .def_prop_ro("following", [](PythonController& c) { return c.controller.following(); })
        .def_prop_rw(
            "seconds", [](PythonController& c) { return c.controller.loop.seconds; },
            [](PythonController& c, double seconds) { c.controller.loop.seconds = seconds; });
}

}  // namespace trisweep
