"""Public names of this room."""

from .regret import ARM_SETS, ArmSet, DATA, LATE, NORM, QBAR, QBARS, RESAMPLES, WARM_SIZES, after, arm_sets, confidence, exponent, final, late_loss, parity_learners, parity_ratios, real_learners, regret_ratio, sketch_name, stuck, warm_learners, watched
