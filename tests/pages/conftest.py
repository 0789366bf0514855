"""The page tests use the checkout's own folders, whatever folders the environment names, including in module fixtures."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def here():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ROOT", "FIGURES", "RESULTS"):
            patch.delenv(f"PAPERLIB_{name}", raising=False)
        yield
