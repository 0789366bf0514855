"""GO-UCB written out for one trial in numpy, from the paper, and the network of the fixtures."""

import numpy as np

W = np.array([0.5, -0.25, 1.0, 0.75, 0.1, -0.2, 1.5, -0.5, 0.3])  # h = 2, d = 2
X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]])


def value(w, x, h=2):
    """w2 s(W1 x + b1) + b2."""
    d = len(x)
    W1, b1, w2, b2 = np.split(w, [h * d, h * d + h, h * d + 2 * h])
    return w2 @ (1 / (1 + np.exp(-(W1.reshape(h, d) @ x + b1)))) + b2[0]


def gradient(w, x, h=2, f=value):
    """By central differences of a complex step: exact to rounding."""
    out = np.empty(len(w))
    for i in range(len(w)):
        moved = w.astype(complex)
        moved[i] += 1e-30j
        out[i] = f(moved, x, h).imag / 1e-30
    return out


def recursion(w0, ridge, points, answers, h=2, f=value):
    """(3) to (5): for each t, u_t^2, and at the end w_t, Sigma_t."""
    Sigma, R, w, u2 = ridge * np.eye(len(w0)), ridge * w0, w0, []
    for x, y in zip(points, answers):
        g = gradient(w, x, h, f)
        u2.append(g @ np.linalg.solve(Sigma, g))
        Sigma = Sigma + np.outer(g, g)
        R = R + g * (g @ w + y - f(w, x, h))
        w = np.linalg.solve(Sigma, R)
    return np.array(u2), w, Sigma
