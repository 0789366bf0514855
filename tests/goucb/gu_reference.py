"""Reference implementation of GO-UCB for one trial in numpy, from the paper, and the network of the fixtures."""

import numpy as np

W = np.array([0.5, -0.25, 1.0, 0.75, 0.1, -0.2, 1.5, -0.5, 0.3])  # h = 2, d = 2
X = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]])


def value(w, x, h=2):
    """Return w2 s(W1 x + b1) + b2."""
    d = len(x)
    W1, b1, w2, b2 = np.split(w, [h * d, h * d + h, h * d + 2 * h])
    return w2 @ (1 / (1 + np.exp(-(W1.reshape(h, d) @ x + b1)))) + b2[0]


def gradient(w, x, h=2, f=value):
    """Return the gradient by central differences with a complex step, exact up to rounding."""
    out = np.empty(len(w))
    for i in range(len(w)):
        moved = w.astype(complex)
        moved[i] += 1e-30j
        out[i] = f(moved, x, h).imag / 1e-30
    return out


def recursion(w0, ridge, points, answers, h=2, f=value):
    """Run (3) to (5). Return u_t^2 for each t, and the final w_t and Sigma_t."""
    Sigma, R, w, u2 = ridge * np.eye(len(w0)), ridge * w0, w0, []
    for x, y in zip(points, answers):
        g = gradient(w, x, h, f)
        u2.append(g @ np.linalg.solve(Sigma, g))
        Sigma = Sigma + np.outer(g, g)
        R = R + g * (g @ w + y - f(w, x, h))
        w = np.linalg.solve(Sigma, R)
    return np.array(u2), w, Sigma


def sigma(ws, points, ridge, h=2):
    """Return lambda I + sum_i g_i g_i^T, where g_i is the gradient at the i-th point and parameters."""
    G = np.array([gradient(w, x, h) for w, x in zip(ws, points)])
    return ridge * np.eye(G.shape[1]) + G.T @ G


def optimism(w, Sigma, points, root, h=2):
    """Return f_x(w) and sqrt(beta) ||grad f_x(w)||_{Sigma^{-1}} at each point."""
    G = np.array([gradient(w, x, h) for x in points])
    f = np.array([value(w, x, h) for x in points])
    return f, root * np.sqrt((G * np.linalg.solve(Sigma, G.T).T).sum(1))


def fit(w, anchor, points, answers, rho, steps, h=2):
    """Run Levenberg-Marquardt on 1/2 sum (f - y)^2 + rho/2 ||w - anchor||^2 in dw x dw form. Return w and the objective."""

    def objective(w):
        rest = answers - np.array([value(w, x, h) for x in points])
        return rest, (rest @ rest + rho * np.sum((w - anchor) ** 2)) / 2

    damping = 1.0
    for _ in range(steps):
        J = np.array([gradient(w, x, h) for x in points])
        rest, now = objective(w)
        step = J.T @ rest + rho * (anchor - w)
        moved = w + np.linalg.solve((rho + damping) * np.eye(len(w)) + J.T @ J, step)
        better = objective(moved)[1] < now
        w, damping = (moved, damping / 3) if better else (w, damping * 4)
    return w, objective(w)[1]


def adam(at, slope, steps, rate):
    """Maximize with Adam (Kingma & Ba's Algorithm 1)."""
    first = second = np.zeros_like(at)
    for t in range(1, steps + 1):
        g = slope(at)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        stride = np.sqrt(second / (1 - 0.999**t)) + 1e-8
        at = at + rate * first / (1 - 0.9**t) / stride
    return at
