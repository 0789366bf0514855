"""Learners and problems for the contract tests and the benchmarks."""

from paperlib.core.contracts import ContractCase
from paperlib.learners.reference import UniformArm
from paperlib.linear.learners import OFUL, ConfidenceBall
from paperlib.linear.problems import Circle, FreshArms

CASES = {
    "OFUL": ContractCase(OFUL(0.1, 1.0), FreshArms(3, arms=5)),
    "OFUL, circle": ContractCase(OFUL(0.1, 1.0, ridge=0.5, refresh=16), Circle(arms=7)),
    "ConfidenceBall": ContractCase(ConfidenceBall(0.1), FreshArms(3, arms=5)),
    "uniform": ContractCase(UniformArm(), FreshArms(3, arms=5)),
}
