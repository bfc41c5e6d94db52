"""Shapes, scenes and distances, against coal and against differences."""

import itertools

import casadi as ca
import numpy as np
import pytest
from support.blocks import points_to_blocks
from trisweep.dynamics import Cloud, ModelBuilder, ModelError, Scene, Shape, distances, load_urdf, pairs
from trisweep.dynamics.algebra.spatial import placement
from trisweep.dynamics.shapes.block import block
from trisweep.dynamics.shapes.cloud import tangent_planes
from trisweep.dynamics.shapes.distance import point_to_block, segment_to_block
from trisweep.dynamics.shapes.paths import find_path
from trisweep.dynamics.shapes.rounds import rounds_of, spheres_of
from trisweep.dynamics.shapes.scene import WORLD
from trisweep.native import compile_function
from trisweep.problems.mechanisms.capsule_arm import capsule_arm
from trisweep.problems.robot import robot

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}


def random_rotation(rng):
    q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def random_shape(kind, rng, link="universe"):
    where = placement(random_rotation(rng), rng.uniform(-1, 1, 3))
    return Shape(kind, tuple(rng.uniform(0.05, 0.6, SIZES[kind]).tolist()), link, where)


def coal_shape(coal, shape):
    made = {"sphere": coal.Sphere, "capsule": coal.Capsule, "cylinder": coal.Cylinder, "box": coal.Box}
    return made[shape.kind](*shape.size), coal.Transform3s(shape.placement.R, np.ravel(shape.placement.p))


def coal_distance(coal, first, second):
    request = coal.DistanceRequest()
    request.gjk_tolerance, request.gjk_max_iterations = 1e-13, 1000
    return coal.distance(*coal_shape(coal, first), *coal_shape(coal, second), request, coal.DistanceResult())


def symbolic_distance(kind):
    """Of a sphere's centre or a capsule's segment to a block, as expressions: the ends, the block, the distance."""
    a, b, numbers = ca.SX.sym("a", 3), ca.SX.sym("b", 3), ca.SX.sym("block", 17)
    d = point_to_block(a, numbers) if kind == "sphere" else segment_to_block(a, b, numbers)
    return a, b, numbers, d


def ends(shape):
    half = shape.size[1] / 2 * shape.placement.R[:, 2] if shape.kind == "capsule" else np.zeros(3)
    return np.ravel(shape.placement.p) - half, np.ravel(shape.placement.p) + half


@pytest.mark.parametrize("kind", ["sphere", "capsule"])
def test_ten_thousand_distances_are_those_of_coal(kind):
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(19)
    a, b, numbers, d = symbolic_distance(kind)
    code = compile_function(ca.Function("d", [a, b, numbers], [d]))
    for other in SIZES:
        shapes = [(random_shape(kind, rng), random_shape(other, rng)) for _ in range(1250)]
        at = np.array([np.concatenate([*ends(first), np.ravel(block(second, WORLD))]) for first, second in shapes])
        found = code.batch(at[:, :3], at[:, 3:6], at[:, 6:]).ravel() - [first.size[0] for first, _ in shapes]
        expected = np.array([coal_distance(coal, first, second) for first, second in shapes])
        apart = expected > 0
        assert apart.sum() > 900
        np.testing.assert_allclose(found[apart], expected[apart], atol=1e-9, rtol=0)
        assert (found[~apart] <= 1e-9).all()
        if other != "cylinder" and kind == "sphere":  # where coal knows the depth
            np.testing.assert_allclose(found[~apart], expected[~apart], atol=1e-9, rtol=0)


def test_the_depth_in_a_cylinder_is_the_way_to_its_nearest_face():
    cylinder = Shape("cylinder", (0.3, 1.0), "universe", WORLD)
    points = np.array([[0.0, 0, 0], [0.25, 0, 0], [0.1, 0, 0.45], [0, 0.1, -0.45]])
    numbers = np.ravel(block(cylinder, WORLD))
    np.testing.assert_allclose(points_to_blocks(points, numbers[None]).ravel(), [-0.3, -0.05, -0.05, -0.05], atol=1e-15)


@pytest.mark.parametrize("kind", ["sphere", "capsule"])
@pytest.mark.parametrize("other", SIZES)
def test_derivatives_of_distances(kind, other):
    """Against differences, so short that none of these pairs changes its closest feature within one."""
    rng, step = np.random.default_rng(7), 1e-6
    a, b, numbers, d = symbolic_distance(kind)
    x = a if kind == "sphere" else ca.vertcat(a, b)
    H, g = ca.hessian(d, x)
    code = compile_function(ca.Function("d", [x, numbers], [d, ca.densify(g), ca.densify(H)]))
    checked = 0
    for _ in range(60):
        first, second = random_shape(kind, rng), random_shape(other, rng)
        at, where = np.concatenate(ends(first))[: x.numel()], np.ravel(block(second, WORLD))[None]
        shifts = step * np.vstack([np.eye(len(at)), -np.eye(len(at))])
        value, gradient, hessian = code.batch(at[None], where)
        if value < 0.02:
            continue
        values, gradients, _ = code.batch(at + shifts, where)
        ahead, behind = np.split(values.ravel(), 2)
        np.testing.assert_allclose(gradient.ravel(), (ahead - behind) / (2 * step), atol=1e-8)
        ahead, behind = np.split(gradients, 2)
        np.testing.assert_allclose(hessian.reshape(len(at), -1), (ahead - behind) / (2 * step), atol=1e-5, rtol=1e-6)
        checked += 1
    assert checked > 30


def test_expressions_and_arrays_agree_on_a_robot():
    arm, rng = robot("iiwa14"), np.random.default_rng(3)
    scene = Scene().half_space("wall", normal=(-1, 0.2, 0), point=(0.6, 0, 0)).height_map("ground", [[0.1, 0.2]], 0.5)
    for kind in SIZES:
        scene.obstacles[kind] = random_shape(kind, rng)
    q = ca.SX.sym("q", arm.nq)
    found = ca.Function("d", [q], [distances(arm, q, scene)])
    cloud = Cloud(arm)
    moving = cloud.bodies >= 0
    for seed in range(5):
        at = arm.random_configuration(seed)
        numbers = arm.distances(at, scene)
        np.testing.assert_allclose(np.array(found(at)).ravel(), numbers, atol=1e-12)
        np.testing.assert_allclose(cloud.distances(at[None], scene)[0][moving].ravel(), numbers, atol=1e-12)
        nearest = cloud.nearest(at, scene)
        closest = pairs(arm, scene)[int(numbers.argmin())]
        if numbers.min() < cloud.self_distances(at[None]).min():
            assert nearest.pairs == [closest] and nearest.distance[0] == pytest.approx(numbers.min())


def test_covers_hold_what_they_cover():
    rng = np.random.default_rng(2)
    for kind in ("box", "cylinder", "capsule"):
        for _ in range(10):
            shape = random_shape(kind, rng, link="arm")
            builder = ModelBuilder("one").add("arm", joint="revolute", mass=1.0)
            model = builder.collision_shape(shape).build()
            local = rng.uniform(-1, 1, (4000, 3))
            inside = points_to_blocks(local, np.ravel(block(shape, WORLD))[None]).ravel() < 0
            centres = np.array([np.ravel(part.a) for part in spheres_of(model)])
            radii = [part.radius for part in spheres_of(model)]
            apart = np.linalg.norm(local[inside, None] - centres, axis=2) - radii
            assert (apart.min(axis=1) <= 0).all()
            assert len(rounds_of(model)) == (1 if kind == "capsule" else len(centres))


def test_links_that_never_or_always_touch_are_no_pairs():
    builder = ModelBuilder("arm").add("base")
    above = "base"
    for k in range(4):
        builder.add(f"link {k}", above, "revolute", axis=(0, 1, 0), position=(0, 0, 0.3), mass=1.0, lower=-3, upper=3)
        builder.collision_shape(Shape("capsule", (0.04, 0.3), f"link {k}", placement(np.eye(3), [0, 0, 0.15])))
        above = f"link {k}"
    builder.collision_shape(Shape("sphere", (0.02,), "base", placement(np.eye(3), [0, 1.0, 0])))
    cloud = Cloud(builder.build())
    assert set(cloud.link_pairs) == {("link 0", "link 2"), ("link 0", "link 3"), ("link 1", "link 3")}
    folded = cloud.nearest(np.array([0.0, 2.9, 2.9, 0.0]), Scene())
    assert folded.distance[0] < 0 and folded.pairs[0] in cloud.link_pairs


@pytest.mark.parametrize(
    "say, sentence",
    [
        (lambda s: s.box("b", (1, -1, 1), (0, 0, 0)), "obstacle 'b': a box has size .*positive"),
        (lambda s: s.sphere("b", float("nan"), (0, 0, 0)), "obstacle 'b': a sphere has size"),
        (lambda s: s.sphere("b", 0.1, (0, float("nan"), 0)), "obstacle 'b': position .* three finite numbers"),
        (lambda s: s.box("b", (1, 1), (0, 0, 0)), "expected \\(x, y, z\\)"),
        (lambda s: s.sphere("ball", 0.1, (0, 0, 0)), "'ball': expected a name that is not taken"),
        (lambda s: s.half_space("b", normal=(0, 0, 0)), "normal is .* expected one with a direction"),
        (lambda s: s.height_map("b", [[0.1, float("nan")]], 0.1), "heights has shape"),
        (lambda s: s.move("nobody", (0, 0, 0)), "no obstacle 'nobody'; the obstacles are ball"),
        (lambda s: s.blocks(0), "has 1 obstacles, expected at most 0"),
    ],
)
def test_a_bad_obstacle_is_a_sentence_and_leaves_the_scene(say, sentence):
    scene = Scene().sphere("ball", 0.1, (0, 0, 0))
    with pytest.raises(ModelError, match=sentence):
        say(scene)
    assert list(scene) == ["ball"]


def test_scenes_from_a_file(tmp_path):
    pytest.importorskip("yaml")
    path = tmp_path / "scene.yaml"
    path.write_text(
        "- {name: table, kind: box, size: [1.2, 0.8, 0.05], position: [0.5, 0, 0.2]}\n"
        "- {name: floor, kind: half_space}\n"
    )
    scene = Scene.load(path)
    assert list(scene) == ["table", "floor"] and scene.obstacles["table"].size == (1.2, 0.8, 0.05)
    for text, sentence in (
        ("name: x", "expected a list"),
        ("- {name: x, kind: cone}", "expected a name and a kind"),
        ("- {name: x, kind: sphere, size: 2}", "obstacle 0 'x'"),
        ("- [", "cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(ModelError, match=sentence):
            Scene.load(path)


def test_shapes_of_a_file_and_a_mesh_that_is_missing(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        """<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1"/></inertial>
        <collision><origin xyz="0 0 0.2"/><geometry><sphere radius="0.1"/></geometry></collision>
        <collision><geometry><mesh filename="package://arm/arm.stl"/></geometry></collision></link>
        <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    )
    model = load_urdf(path)
    assert [shape.kind for shape in model.collision_shapes] == ["sphere", "mesh"] and not model.shapes
    with pytest.raises(ModelError, match=r"link 'arm': its mesh 'package://arm/arm.stl' is not there"):
        rounds_of(model)


def test_a_mesh_is_held_by_its_spheres(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.capsule(height=0.6, radius=0.05)
    mesh.export(tmp_path / "rod.stl")
    shape = Shape("mesh", (1.0, 1.0, 1.0), "arm", WORLD, mesh=str(tmp_path / "rod.stl"))
    model = ModelBuilder("one").add("arm", joint="revolute", mass=1.0).collision_shape(shape).build()
    parts = spheres_of(model)
    assert 4 <= len(parts) <= 8 and max(part.radius for part in parts) < 0.12
    apart = [np.linalg.norm(mesh.sample(5000, seed=1) - np.ravel(part.a), axis=1) - part.radius for part in parts]
    assert (np.min(apart, axis=0) <= 0).all()


def crowded(rng):
    scene = Scene()
    for k in range(3):
        for kind in SIZES:
            scene.obstacles[f"{kind} {k}"] = random_shape(kind, rng)
    return scene


def test_the_core_finds_the_nearest_of_all_pairs():
    arm, rng = robot("iiwa14"), np.random.default_rng(5)
    cloud, scene = Cloud(arm), crowded(rng)
    q = np.array([arm.random_configuration(rng) for _ in range(101)])
    centres, within = cloud.centres(q), cloud.self_distances(q)
    around = points_to_blocks(centres.reshape(-1, 3), scene.blocks()).reshape(*centres.shape[:2], len(scene))
    around = np.where(cloud.bodies[:, None] >= 0, around - cloud.radii[:, None], np.inf)
    np.testing.assert_allclose(cloud.distances(q, scene), around, atol=1e-12)
    assert cloud.distances(q, Scene()).shape == (101, len(cloud.parts), 0)
    expected = np.minimum(around.reshape(len(q), -1).min(axis=1), within.min(axis=1))
    found = cloud.nearest(q, scene)
    np.testing.assert_allclose(found.distance, expected, atol=1e-12)
    links = [part.link for part in cloud.parts]
    for k, pair in enumerate(found.pairs):
        sphere, obstacle = np.unravel_index(around[k].argmin(), around[k].shape)
        if around[k].min() < within[k].min():
            assert pair == (links[sphere], list(scene)[obstacle])
        else:
            assert pair in cloud.link_pairs
    empty = cloud.nearest(q[:1], Scene())
    np.testing.assert_allclose(empty.distance, within[:1].min(axis=1), atol=1e-12)


def test_half_spaces_hold_their_blocks_and_touch_them_at_the_nearest_point():
    rng = np.random.default_rng(6)
    for kind in SIZES:
        numbers = np.array([np.ravel(block(random_shape(kind, rng), WORLD)) for _ in range(100)])
        points, others = rng.uniform(-1.2, 1.2, (100, 3)), rng.uniform(-1.5, 1.5, (500, 3))
        planes = tangent_planes(points, numbers)
        for point, one, plane in zip(points, numbers, planes):
            apart = points_to_blocks(point[None], one[None])
            np.testing.assert_allclose(points_to_blocks(point[None], plane[None]), apart, atol=1e-9)
            assert (points_to_blocks(others, plane[None]) <= points_to_blocks(others, one[None]) + 1e-9)[
                points_to_blocks(others, one[None]) > 0
            ].all()


def test_paths_are_free_and_the_same_for_the_same_seed():
    arm = capsule_arm()
    cloud = Cloud(arm)
    scene = Scene().box("wall", (0.6, 0.02, 0.5), (0.5, 0, 0.25)).box("shelf", (0.4, 0.4, 0.02), (0.6, 0.4, 0.75))
    start, goal = np.array([-0.8, 1.2, 0, 0.6, 0, 0.3]), np.array([0.8, 1.2, 0, 0.6, 0, 0.3])
    path, tries = find_path(cloud, scene, start, goal, margin=0.01, seed=3)
    assert tries > 0 and len(path) > 2
    np.testing.assert_array_equal(path[[0, -1]], [start, goal])
    for a, b in itertools.pairwise(path):
        way = a + (b - a) * np.linspace(0, 1, 400)[:, None]
        assert cloud.nearest(way, scene).distance.min() > 0
    again, _ = find_path(cloud, scene, start, goal, margin=0.01, seed=3)
    np.testing.assert_array_equal(path, again)
    straight, tries = find_path(cloud, Scene(), start, goal)
    assert tries == 0 and len(straight) == 2
    blocked = Scene().box("around the tool", (0.3, 0.3, 0.3), tuple(arm.link_pose(goal, "tool")[1]))
    none, tries = find_path(cloud, blocked, start, goal, iterations=300)
    assert none.shape == (0, 6) and tries == 300
