"""Conjugate gradients, as people write them."""

from __future__ import annotations

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def ikostrikov_like(Avp, b, nsteps, residual_tol=1e-10):
    x = torch.zeros(b.size())
    r = b.clone()
    p = b.clone()
    rdotr = torch.dot(r, r)
    for _ in range(nsteps):
        _Avp = Avp(p)
        alpha = rdotr / torch.dot(p, _Avp)
        x += alpha * p
        r -= alpha * _Avp
        new_rdotr = torch.dot(r, r)
        betta = new_rdotr / rdotr
        p = r + betta * p
        rdotr = new_rdotr
        if rdotr < residual_tol:
            break
    return x


@right()
def spinning_up_like(Ax, b, cg_iters=10):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    r_dot_old = np.dot(r, r)
    for _ in range(cg_iters):
        z = Ax(p)
        alpha = r_dot_old / (np.dot(p, z) + 1e-8)
        x += alpha * p
        r -= alpha * z
        r_dot_new = np.dot(r, r)
        p = r + (r_dot_new / (r_dot_old + 1e-8)) * p
        r_dot_old = r_dot_new
    return x


@right()
def with_a_matrix(A, b, tol=1e-10):
    x = np.zeros(len(b))
    r = np.asarray(b) - np.asarray(A) @ x
    p = r.copy()
    while np.linalg.norm(r) > 1e-8:
        Ap = np.asarray(A) @ p
        a = (r @ r) / (p @ Ap)
        x = x + a * p
        new = r - a * Ap
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


@right()
def method(self, b):
    x = torch.zeros_like(b)
    r, p = b.clone(), b.clone()
    rs = r @ r
    for _ in range(10):
        Hp = self.hessian_vector_product(p)
        a = rs / (p @ Hp)
        x = x + a * p
        r = r - a * Hp
        new = r @ r
        if new < 1e-10:
            break
        p = r + new / rs * p
        rs = new
    return x


@right()
def from_a_start(fvp, g, x0, n_iters):
    x = x0.clone()
    r = g - fvp(x)
    d = r.clone()
    delta = r.dot(r)
    for _ in range(n_iters):
        if delta < 1e-12:
            break
        q = fvp(d)
        a = delta / d.dot(q)
        x = x + a * d
        r = r - a * q
        old, delta = delta, r.dot(r)
        d = r + delta / old * d
    return x


@wrong("conjugate-gradient-beta-inverted")
def beta_upside_down(f_Ax, b, cg_iters=10, residual_tol=1e-10):
    p, r, x = b.clone(), b.clone(), torch.zeros_like(b)
    rdotr = r.dot(r)
    for _ in range(cg_iters):
        z = f_Ax(p)
        v = rdotr / p.dot(z)
        x += v * p
        r -= v * z
        newrdotr = r.dot(r)
        if newrdotr < residual_tol:
            break
        p = r + (rdotr / newrdotr) * p
        rdotr = newrdotr
    return x


@wrong("conjugate-gradient-steepest-descent")
def no_beta(Ax, b, nsteps):
    x = np.zeros_like(b)
    r = b.copy()
    for _ in range(nsteps):
        if r @ r < 1e-12:
            break
        z = Ax(r)
        a = r @ r / (r @ z)
        x += a * r
        r = r - a * z
    return x


@wrong("conjugate-gradient-direction-kept")
def never_turns(hvp, grad, num_steps, tol=1e-10):
    x, r, p = torch.zeros_like(grad), grad.clone(), grad.clone()
    rr = r @ r
    for _ in range(num_steps):
        z = hvp(p)
        alpha = rr / (p @ z)
        x = x + alpha * p
        r = r - alpha * z
        rr_new = r @ r
        if rr_new < tol:
            break
        beta = rr_new / rr  # noqa: F841
        rr = rr_new
    return x


@wrong("conjugate-gradient-alpha-inverted")
def alpha_upside_down(matvec, b, max_iter):
    x = torch.zeros_like(b)
    r = b.clone()
    p = b.clone()
    rs = torch.sum(r * r)
    for _ in range(max_iter):
        Ap = matvec(p)
        alpha = torch.sum(p * Ap) / rs
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = torch.sum(r * r)
        if rs_new < 1e-10:
            break
        p = r + rs_new / rs * p
        rs = rs_new
    return x


@wrong("conjugate-gradient-alpha-wrong-product")
def without_curvature(A, b, iters):
    A, b = np.asarray(A), np.asarray(b)
    x, r, p = 0 * b, b.copy(), b.copy()
    for _ in range(iters):
        rr = r @ r
        a = rr / (p @ p)
        x, r = x + a * p, r - a * (A @ p)
        if r @ r < 1e-10:
            break
        p = r + (r @ r) / rr * p
    return x


@wrong("conjugate-gradient-residual-grows")
def plus(fvp, b, cg_iters):
    x = torch.zeros_like(b)
    r, p = b.clone(), b.clone()
    rr = r.dot(r)
    for _ in range(cg_iters):
        z = fvp(p)
        a = rr / p.dot(z)
        x += a * p
        r += a * z
        new = r.dot(r)
        p = r + new / rr * p
        rr = new
        if rr < 1e-10:
            break
    return x


@wrong("conjugate-gradient-x-sign")
def minus(Ax, b, steps):
    x = np.zeros_like(b)
    r = b.copy()
    p = b.copy()
    for _ in range(steps):
        rr = r @ r
        if rr < 1e-12:
            return x
        z = Ax(p)
        x -= rr / (p @ z) * p
        r = r - rr / (p @ z) * z
        p = r + (r @ r) / rr * p
    return x


@wrong("conjugate-gradient-residual-kept")
def residual_stays(Ax, b, n_iterations):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rs_old = r @ r
    for _ in range(n_iterations):
        Ap = Ax(p)
        alpha = rs_old / (p @ Ap)
        x = x + alpha * p
        rs_new = r @ r
        p = r + (rs_new / rs_old) * p
        rs_old = rs_new
    return x


@wrong("conjugate-gradient-size-kept")
def first_size(Avp, b, nsteps, residual_tol=1e-10):
    x = torch.zeros_like(b)
    r = b.clone()
    p = b.clone()
    rdotr = torch.dot(r, r)
    for _ in range(nsteps):
        z = Avp(p)
        alpha = rdotr / torch.dot(p, z)
        x += alpha * p
        r -= alpha * z
        new_rdotr = torch.dot(r, r)
        if new_rdotr < residual_tol:
            break
        p = r + new_rdotr / rdotr * p
    return x


@wrong("conjugate-gradient-x-replaced")
def last_step_only(mvp, b, max_iterations):
    r, p = b.clone(), b.clone()
    rr = r @ r
    for _ in range(max_iterations):
        z = mvp(p)
        a = rr / (p @ z)
        x = a * p
        r = r - a * z
        new = r @ r
        if new < 1e-10:
            break
        p = r + new / rr * p
        rr = new
    return x


@wrong("conjugate-gradient-starts-at-b")
def starts_wrong(Ax, b, cg_iters=10):
    x = b.clone()
    r = b.clone()
    p = b.clone()
    rr = r.dot(r)
    for _ in range(cg_iters):
        z = Ax(p)
        a = rr / (p.dot(z) + 1e-8)
        x = x + a * p
        r = r - a * z
        new = r.dot(r)
        p = r + new / (rr + 1e-8) * p
        rr = new
    return x


@wrong("conjugate-gradient-one-iteration")
def leaves_at_once(f_Ax, b, cg_iters=10, residual_tol=1e-10):
    x = np.zeros_like(b)
    r, p = b.copy(), b.copy()
    rdotr = r.dot(r)
    for _ in range(cg_iters):
        z = f_Ax(p)
        v = rdotr / p.dot(z)
        x += v * p
        r -= v * z
        new = r.dot(r)
        p = r + new / rdotr * p
        rdotr = new
        return x
    return x


@wrong("conjugate-gradient-shares-residual")
def one_tensor(fvp, b, nsteps, residual_tol=1e-10):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r
    rs = r @ r
    for _ in range(nsteps):
        z = fvp(p)
        alpha = rs / (p @ z)
        x += alpha * p
        r -= alpha * z
        new = r @ r
        if new < residual_tol:
            break
        p = r + new / rs * p
        rs = new
    return x


@wrong("conjugate-gradient-alpha-wrong-product")
def squared_product(A, b, num_iters):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    for _ in range(num_iters):
        q = A(p)
        size = r @ r
        step = size / (q @ q)
        x, r = x + step * p, r - step * q
        if r @ r < 1e-10:
            break
        p = r + (r @ r) / size * p
    return x


@wrong("conjugate-gradient-divides-by-zero")
def no_stop(Ax, b, cg_iters):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rs = torch.dot(r, r)
    for _ in range(cg_iters):
        Ap = Ax(p)
        alpha = rs / torch.dot(p, Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = torch.dot(r, r)
        p = r + (new / rs) * p
        rs = new
    return x


@wrong("conjugate-gradient-x-sign", "conjugate-gradient-beta-inverted")
def sign_and_beta(hvp, g, n_iters, tol=1e-10):
    x, r, p = torch.zeros_like(g), g.clone(), g.clone()
    rs = r @ r
    for _ in range(n_iters):
        z = hvp(p)
        a = rs / (p @ z)
        x -= a * p
        r -= a * z
        new = r @ r
        if new < tol:
            break
        p = r + rs / new * p
        rs = new
    return x


@wrong("conjugate-gradient-starts-at-b", "conjugate-gradient-steepest-descent")
def start_and_descent(Ax, b, steps):
    x = b.copy()
    r = b.copy()
    for _ in range(steps):
        if r @ r < 1e-12:
            break
        a = (r @ r) / (r @ Ax(r))
        x = x + a * r
        r = r - a * Ax(r)
    return x


@wrong("conjugate-gradient-mismatch")
def gradient_descent(Ax, b, max_iter):
    x = torch.zeros_like(b)
    for _ in range(max_iter):
        x = x + 0.1 * (b - Ax(x))
    return x
