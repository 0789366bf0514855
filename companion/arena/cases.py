"""Learners and problems of the arena for the contract tests."""

from paperlib.core.contracts import ContractCase
from paperlib.linear.learners import OFUL
from paperlib.linear.problems import FreshArms

from .learners import LinearThompson, Rescaled

CASES = {
    "linear Thompson": ContractCase(LinearThompson(0.1, 1.0), FreshArms(3, arms=5)),
    "OFUL, rescaled": ContractCase(
        Rescaled(OFUL(0.1, 1.0), 0.5, 2.0, 1.0), FreshArms(3, arms=5), {"base": [None]}
    ),
}
