"""Each right-hand side against a check written by hand from the literature, not from the data."""

import math

import numpy as np
import pytest

from autotune.files import config
from autotune.measuring.verification import ivp_reference

TIMES = {"inverterchain": [4e-9, 7.25e-9, 12e-9, 16e-9, 20e-9], "medakzo": [0.0, 4.9, 5.1]}


def heat2d(N, t, y):
    u, f = y.reshape(N, N), np.zeros((N, N))
    spacing = 1 / (N - 1)
    for r in range(1, N - 1):
        for q in range(1, N - 1):
            second_r = (u[r - 1, q] - 2 * u[r, q] + u[r + 1, q]) / spacing**2
            second_q = (u[r, q - 1] - 2 * u[r, q] + u[r, q + 1]) / spacing**2
            f[r, q] = second_r + second_q
    return f.ravel()


def input_signal(t):
    """U_in in volts, t in seconds."""
    ns = t * 1e9
    if ns < 5 or ns > 17:
        return 0.0
    if ns < 10:
        return ns - 5
    return 5.0 if ns < 15 else 2.5 * (17 - ns)


def inverterchain(N, t, y):
    resistance, gain, capacity, supply, threshold = 5e3, 2e-4, 0.2e-12, 5.0, 1.0

    def drain(gate, out):
        current = 0.0
        if gate > threshold:
            current += (gate - threshold) ** 2
        if gate - out > threshold:
            current -= (gate - out - threshold) ** 2
        return gain * current

    gates = [input_signal(t), *y[:-1]]
    currents = [
        (supply - out) / resistance - drain(gate, out) for gate, out in zip(gates, y, strict=True)
    ]
    return np.array(currents) / capacity


def medakzo(N, t, y):
    k, c, width = 100, 4, 1 / N
    u, v = y[:N], y[N:]
    phi = 2.0 if t <= 5 else 0.0
    f = np.empty(2 * N)
    for i in range(1, N + 1):  # the numbering of the test set
        zeta = i * width
        alpha, beta = 2 * (zeta - 1) ** 3 / c**2, (zeta - 1) ** 4 / c**2
        before = u[i - 2] if i > 1 else phi
        after = u[i] if i < N else u[N - 1]
        reaction = k * u[i - 1] * v[i - 1]
        f[i - 1] = (
            alpha * (after - before) / (2 * width)
            + beta * (before - 2 * u[i - 1] + after) / width**2
            - reaction
        )
        f[N + i - 1] = -reaction
    return f


def wave1d(N, t, y):
    # du/dx at the centre of 9 points, exact for polynomials of degree 8: solved for, not copied.
    offsets = np.arange(-4, 5)
    powers = np.array([offsets**d for d in range(9)], dtype=float)
    weights = np.linalg.solve(powers, np.eye(9)[1]) / (500 / (N - 1))
    padded = np.concatenate([np.ones(4), y, np.ones(4)])
    return np.array([-weights @ padded[j : j + 9] for j in range(N)])


def string(N, u, v):
    padded = np.concatenate([[0.0], u, [0.0]])
    curvature = (padded[:-2] - 2 * padded[1:-1] + padded[2:]) * (N + 1) ** 2
    return v, 1.5**2 * curvature


def string_row(N, t, y):
    return np.concatenate(string(N, y[:N], y[N:]))


def string_mix(N, t, y):
    du, dv = string(N, y[0::2], y[1::2])
    f = np.empty(2 * N)
    f[0::2], f[1::2] = du, dv
    return f


def fitzhugh_nagumo(N, t, y):
    u, w = y[0::2], y[1::2]
    mirrored = np.concatenate([u[1:2], u, u[-2:-1]])
    diffusion = 0.01 * (mirrored[:-2] - 2 * u + mirrored[2:]) * (N - 1) ** 2
    f = np.empty(2 * N)
    f[0::2] = diffusion + u - u**3 / 3 - w + 0.5
    f[1::2] = 0.08 * (u + 0.7 - 0.8 * w)
    return f


def brusselator2d(N, t, y):
    u, v = y.reshape(2, N, N)

    def diffusion(field):
        around = np.pad(field, 1, mode="reflect")
        total = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        return 0.1 * (total - 4 * field) * (N - 1) ** 2

    du = 1 + u * u * v - 4.4 * u + diffusion(u)
    dv = 3.4 * u - u * u * v + diffusion(v)
    return np.concatenate([du.ravel(), dv.ravel()])


def brusselator2d_mix(N, t, y):
    apart = brusselator2d(N, t, np.concatenate([y[0::2], y[1::2]]))
    return apart.reshape(2, -1).T.ravel()


def heat3d(N, t, y):
    u, f = y.reshape(N, N, N), np.zeros((N, N, N))
    spacing = 1 / (N - 1)
    inside = (slice(1, -1),) * 3
    for axis in range(3):
        second = np.diff(u, 2, axis=axis)
        f[inside] += second[tuple(slice(None) if a == axis else slice(1, -1) for a in range(3))]
    return (f / spacing**2).ravel()


def advection(N, t, y):
    # du/dx from 4 points, exact for polynomials of degree 3: solved for, not copied.
    offsets = np.arange(-2, 2)
    weights = np.linalg.solve([offsets**d for d in range(4)], np.eye(4)[1]) * N
    return np.array([-weights @ y[(j + offsets) % N] for j in range(N)])


def flock(N, t, y):
    x, v = y[:N], y[N:]
    force = [
        sum((v[k] - v[i]) / (1 + (x[k] - x[i]) ** 2) for k in range(N)) * 10 / N for i in range(N)
    ]
    return np.concatenate([v, force])


BY_HAND = {
    "flock": flock,
    "advection": advection,
    "brusselator2d-mix": brusselator2d_mix,
    "heat3d": heat3d,
    "brusselator2d": brusselator2d,
    "fitzhugh-nagumo": fitzhugh_nagumo,
    "heat2d": heat2d,
    "inverterchain": inverterchain,
    "medakzo": medakzo,
    "wave1d": wave1d,
    "string-row": string_row,
    "string-mix": string_mix,
}


@pytest.mark.parametrize("extra", [0, 1, 6, 7])
@pytest.mark.parametrize("name", BY_HAND)
def test_right_hand_side_is_that_of_the_literature(name, extra):
    ivp = config.ivp(name)
    size = ivp.minimum + extra
    f = ivp_reference.rhs(ivp, size)
    random = np.random.default_rng(extra)
    for t in TIMES.get(name, [0.0]):
        y = random.uniform(0, 5, int(ivp.values(size)["n"]))
        expected = BY_HAND[name](size, t, y)
        scale = np.abs(expected).max()
        assert np.abs(f(t, y) - expected).max() <= 1e-13 * scale


def test_the_two_strings_are_one_problem_in_two_orders():
    row, mix = config.ivp("string-row"), config.ivp("string-mix")
    size = 23
    y_row, y_mix = ivp_reference.initial(row, size), ivp_reference.initial(mix, size)
    assert y_mix[0::2] == pytest.approx(y_row[:size], rel=1e-15, abs=1e-15)
    assert y_mix[1::2] == pytest.approx(y_row[size:], rel=1e-15, abs=1e-13)


def test_a_tone_of_the_string_swings_with_its_frequency():
    # u = cos(w t) sin(p pi x) with w = 2 speed/dx sin(p pi dx/2) solves the difference equations.
    size, p = 30, 4
    f = ivp_reference.rhs(config.ivp("string-row"), size)
    x = np.arange(1, size + 1) / (size + 1)
    omega = 2 * 1.5 * (size + 1) * math.sin(p * math.pi / (size + 1) / 2)
    u = np.sin(p * np.pi * x)
    assert f(0.0, np.concatenate([u, 0 * u]))[size:] == pytest.approx(-(omega**2) * u, abs=1e-9)


def test_a_chain_of_inverters_at_rest_stays_there():
    low = (9 - math.sqrt(61)) / 2
    y = np.array([5.0, low] * 10)
    assert np.abs(ivp_reference.rhs(config.ivp("inverterchain"), 20)(0.0, y)).max() * 1e-9 < 1e-14


def test_the_brusselator_without_diffusion_rests_at_u_1_and_v_3_4():
    y = np.concatenate([np.ones(49), np.full(49, 3.4)])
    assert np.abs(ivp_reference.rhs(config.ivp("brusselator2d"), 7)(0.0, y)).max() < 1e-13


def test_advection_keeps_the_sum_and_carries_a_wave_around_the_ring():
    size = 60
    ring = config.ivp("advection")
    f = ivp_reference.rhs(ring, size)
    assert abs(f(0.0, ivp_reference.initial(ring, size)).sum()) < 1e-9
    x = np.arange(size) / size
    slope = -2 * np.pi * np.cos(2 * np.pi * x)
    assert f(0.0, np.sin(2 * np.pi * x)) == pytest.approx(slope, abs=5e-3)


def test_a_flock_keeps_its_mean_velocity_and_comes_together():
    at = config.ivp("flock")
    size = 11
    y = ivp_reference.initial(at, size)
    f = ivp_reference.rhs(at, size)
    assert f(0.0, y)[size:].sum() == pytest.approx(0.0, abs=1e-14)
    slowest, fastest = y[size:].argmin(), y[size:].argmax()
    assert f(0.0, y)[size + slowest] > 0 > f(0.0, y)[size + fastest]
