"""Compare Adam's step with torch.optim.Adam."""

import torch

from paperlib.maths.adam import Adam


def test_adam_equals_torch_optim():
    generator = torch.Generator().manual_seed(0)
    target = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    gradient = lambda x: (target - x) * torch.tensor([1.0, 10.0, 1e-3, 0.0], dtype=torch.float64)
    mine = torch.zeros_like(target)
    theirs = torch.zeros_like(target, requires_grad=True)
    adam, other = Adam.begun(mine), torch.optim.Adam([theirs], 0.1, maximize=True)
    for _ in range(30):
        uphill, adam = adam.step(gradient(mine))
        mine = mine + 0.1 * uphill
        theirs.grad = gradient(theirs.detach())
        other.step()
        torch.testing.assert_close(mine, theirs.detach(), rtol=1e-12, atol=1e-14)
    assert adam.steps == 30 and bool((mine[:, 3] == 0).all())


def test_entries_are_independent():
    gradients = torch.linspace(-1, 1, 12, dtype=torch.float64).view(6, 2)
    whole, adam = Adam.begun(gradients).step(gradients)
    for row in range(6):
        part, _ = Adam.begun(gradients[row]).step(gradients[row])
        assert torch.equal(part, whole[row])
    torch.testing.assert_close(adam.second, 0.001 * gradients.square(), rtol=1e-12, atol=0)
