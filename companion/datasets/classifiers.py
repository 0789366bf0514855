"""Accuracy of scikit-learn's classifiers on held-out data; worker processes call this module.

A worker imports this file and its imports: neither torch nor, before the first fit, scikit-learn.
"""

import ast
import hashlib
import inspect
import itertools
import warnings
from importlib import metadata
from typing import Any

import numpy as np

PACKAGES = ("scikit-learn", "numpy", "scipy")


def versions() -> dict[str, str]:
    """Return the versions that an accuracy depends on, in addition to data and parameters.

    They are the packages' versions, and a checksum of the code of ``accuracy`` without its docstring.
    """
    (function,) = ast.parse(inspect.getsource(accuracy)).body
    function.body = function.body[1:]
    code = hashlib.sha256(ast.dump(function).encode()).hexdigest()[:16]
    return {package: metadata.version(package) for package in PACKAGES} | {"code": code}


def accuracy(
    parameters: dict[str, Any],
    features: np.ndarray,
    target: np.ndarray,
    classifier: str,
    fold: int,
    folds: int = 5,
    scale: bool = False,
    split: int = 0,
) -> float:
    """Return the fraction of a fold that a classifier predicts correctly after a fit to the other folds.

    All other random states are 0.

    Args:
        parameters: of the classifier, by scikit-learn's names.
        features: N x d.
        target: N classes.
        classifier: "forest", "perceptron" or "boosting".
        fold: 0..folds - 1, of a shuffled stratified split.
        folds: number of folds.
        scale: whether features are standardized with the mean and standard deviation of the training rows.
        split: random state of the split.

    Raises:
        Exception: any error that scikit-learn raises for invalid parameters.
    """
    from sklearn import ensemble, neural_network
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classes = {
        "forest": ensemble.RandomForestClassifier,
        "perceptron": neural_network.MLPClassifier,
        "boosting": ensemble.GradientBoostingClassifier,
    }
    release = tuple(map(int, metadata.version("scikit-learn").split(".")[:2]))
    # From scikit-learn 1.9 on, the criterion of boosting has no effect and causes a warning.
    if classifier == "boosting" and release >= (1, 9):
        parameters = {name: x for name, x in parameters.items() if name != "criterion"}
    model = classes[classifier](**parameters, random_state=0)
    if scale:
        model = make_pipeline(StandardScaler(), model)
    parts = StratifiedKFold(folds, shuffle=True, random_state=split).split(features, target)
    train, test = next(itertools.islice(parts, fold, None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features[train], target[train])
    return float(np.mean(model.predict(features[test]) == target[test]))
