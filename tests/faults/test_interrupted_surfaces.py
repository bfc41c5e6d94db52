"""Whatever takes long, cut off from outside: a signal whose handler raises, a fork amid another thread's work, the end
of the script. What was raised is raised, the child works, the script ends, and the next call is as the first.
"""

from pathlib import Path

import pytest
from faults.test_exit_and_signals import run

ARM = """
from trisweep.dynamics import ModelBuilder, simulate
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.kinematic_tree import Shape
builder = ModelBuilder("arm")
reach = {"lower": -2.5, "upper": 2.5, "velocity": 2.0, "effort": 50.0}
for link, parent in (("upper", "universe"), ("lower", "upper")):
    where = (0.0, 0.0, 0.0) if parent == "universe" else (0.5, 0.0, 0.0)
    builder.add(link, parent, "revolute", axis=(0, 0, 1), position=where, mass=1.0, com=(0.25, 0, 0), **reach)
    builder.collision_shape(Shape("capsule", (0.05, 0.3), link, placement(np.eye(3), (0.25, 0, 0))))
arm = builder.build()
"""

LOOP = """
ocp = ts.Problem(steps=20, step=0.05)
x, u = ocp.state("x", 2), ocp.control("u", lower=-1, upper=1)
ocp.derivative(x=ts.vertcat(x[1], u - ts.sin(x[0])))
ocp.minimize(u**2 + 0.1 * ts.sumsqr(x))
ocp.start("x")
looped = ocp.build()
"""

# act(n): some work and a number that it always gives; n is who asks, for what two threads cannot share.
SURFACES = {
    "many": """
guess = {"x": np.zeros((40, 1, 2))}
def act(n):
    return float(solver.solve_many(guess=guess, threads=2, progress=False).objectives.sum())
""",
    "portfolio": """
def act(n):
    return round(float(solver.solve(settings=ts.Settings(portfolio=True)).objective), 9)
""",
    "controller": LOOP
    + """
def act(n):
    controller = looped.controller()
    return float(sum(controller.step({"x": [0.01 * k, 0.0]}).u[0] for k in range(200)))
""",
    "closed loop": LOOP
    + """
def plant(states, controls, period):
    return {"x": states["x"] + period * np.array([states["x"][1], controls["u"][0]])}
def act(n):
    return float(ts.closed_loop(looped.controller(), plant, 5.0, {"x": [0.5, 0.0]}).x.sum())
""",
    "program": """
from trisweep.riccati import QP, Stage, StageLimits
edge = {"A": np.eye(3), "B": np.eye(3), "b": np.zeros(3)}
cost = {"Q": np.eye(3), "q": np.ones(3), "R": np.eye(3), "r": np.zeros(3)}
stages = [Stage(**cost), *(Stage(**cost, parent=k, **edge) for k in range(400))]
def act(n):
    return QP(stages, StageLimits(u_upper=0.2), np.ones(3)).solve().objective
""",
    "plan": ARM
    + """
post = ts.Scene().sphere("post", 0.1, (0.8, 0.0, 0.0))
def act(n):
    return float(ts.plan(arm, [-1.0, 0.5], [1.0, -0.5], post, steps=10).motion.q.sum())
""",
    "via points": ARM
    + """
def act(n):
    return float(ts.plan(arm, [-1.0, 0.5], [1.0, -0.5], via=[[0.0, 0.6]], steps=10, threads=2).motion.q.sum())
""",
    "path": ARM
    + """
from trisweep.dynamics.shapes.cloud import Cloud
from trisweep.dynamics.shapes.paths import find_path
cloud, hidden = Cloud(arm), ts.Scene().sphere("around the goal", 0.2, (0.8, 0.0, 0.0))
def act(n):
    path, tries = find_path(cloud, hidden, np.array([-1.0, 0.5]), np.array([0.0, 0.0]), iterations=3000)
    return len(path) + tries
""",
    "calls": ARM
    + """
compiled, rng = arm.compiled, np.random.default_rng(0)
q, v, tau = rng.normal(size=(3, 500, 2))
def act(n):
    slopes = compiled.forward_dynamics_slopes(q[0], v[0], tau[0])
    several = [compiled.forward_dynamics(*each).sum() for each in zip(q, v, tau)]
    return float(compiled.forward_dynamics(q, v, tau).sum() - sum(several) + sum(each.sum() for each in slopes))
""",
    "simulation": ARM
    + """
def act(n):
    return float(simulate(arm, [0.1, 0.2], [1.0, 0.0], duration=10.0).q.sum())
""",
    "export": LOOP
    + """
import shutil, tempfile
def act(n):
    with tempfile.TemporaryDirectory() as folder:
        looped.export(folder + "/reach")
        return float(len(os.listdir(folder + "/reach")) + len(os.listdir(folder)))
""",
    "pickle": """
import pickle
def act(n):
    return float(pickle.loads(pickle.dumps(solver)).solve().objective)
""",
}

TRIED = """
expected = act(0)
assert act(0) == expected

class Alarm(Exception):
    pass

def handle(number, frame):
    raise Alarm

# Signals at many moments of it, by the processor's time.
signal.signal(signal.SIGVTALRM, handle)
raised = 0
for k in range(6):
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01 + 0.013 * k, 0.25)  # again, where code that is not ours drops it
        while True:
            assert act(0) == expected, k
    except Alarm:
        raised += 1
    except Exception as error:  # CasADi and NumPy catch whatever is raised in some of theirs, and say something else
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        file, said = place.tb_frame.f_code.co_filename, error
        while said is not None and not isinstance(said, Alarm):
            said = said.__cause__ or said.__context__
        if "casadi" not in file and (said is None or "-packages" not in file):
            raise
        raised += 1
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    assert act(0) == expected, k
print("signals", flush=True)
assert raised == 6

under_way, stop = threading.Event(), threading.Event()

def work():
    while True:
        under_way.set()
        act(1)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
under_way.wait()
for _ in range(3):
    child = os.fork()
    if child == 0:
        ok = act(0) == expected
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
print("forks", flush=True)
"""


@pytest.mark.parametrize("surface", SURFACES)
def test_signals_forks_and_the_end_of_the_script(surface):
    code, words, errors = run(SURFACES[surface] + TRIED, timeout=300)
    assert (code, words) == (0, ["signals", "forks"]), errors[-3000:]


def test_bindings_give_pythons_lock_away_in_the_one_way_that_an_end_of_the_script_bears():
    sources = list((Path(__file__).parents[2] / "native/src/bindings").glob("*.?pp"))
    assert any("Unlocked unlocked" in source.read_text() for source in sources)
    assert [source.name for source in sources if "gil_scoped" in source.read_text()] == []


def test_what_is_raised_amid_the_linking_of_modules_frees_them_before_their_context():
    words = """
import llvmlite.binding as llvm
def alarm(*_):
    raise RuntimeError("alarm")
llvm.ModuleRef.link_in = alarm
try:
    looped.export(folder)
except RuntimeError as error:
    print(error)
"""
    start = SURFACES["export"].split("def act")[0]
    code, said, errors = run(start + "folder = __import__('tempfile').mkdtemp() + '/turn'\n" + words, timeout=100)
    assert (code, said) == (0, ["alarm"]), errors[-2000:]
