"""Options of the bench, and which learner is measured where."""

import pytest

from companion.bench import measure as speed
from companion.store.timing import alone
from paperlib.core.linalg import pick_device


def pytest_addoption(parser):
    group = parser.getgroup("bench")
    group.addoption("--device", default="auto", help="auto, cpu or cuda")
    group.addoption("--quick", action="store_true", help="few and small points")
    group.addoption("--only", metavar="NAME", help="a paper or a learner")


def pytest_generate_tests(metafunc):
    plan, cases = plan_of(metafunc.config), []
    for subject in speed.subjects(metafunc.config.getoption("only")):
        cases += [
            pytest.param(
                subject,
                point,
                id=f"{subject.paper}.{subject.name}-R{point.trials}-t{point.played}-K{point.arms}-d{point.dim}",
            )
            for point in speed.points(subject, plan)
        ]
    metafunc.parametrize("subject, point", cases)


def plan_of(config) -> speed.Plan:
    return speed.plan_for(pick_device(config.getoption("device")), config.getoption("quick"))


@pytest.fixture(scope="session")
def plan(request):
    return plan_of(request.config)


@pytest.fixture(scope="session")
def device(request):
    return pick_device(request.config.getoption("device"))


@pytest.fixture(scope="session", autouse=True)
def quiet_machine():
    """Nothing else of the project computes meanwhile, and one thread does the work."""
    with alone():
        yield
