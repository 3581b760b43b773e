"""Conjugate gradients: A x = b solved with products A p alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Values, floats

UNTOLD = 10  # iterations, where the function takes no number of them


class Product:
    """v -> A v, for tensors and arrays; what else is handed over is not looked at."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def __call__(self, vector: Any, *rest: Any, **named: Any) -> Any:
        if isinstance(vector, torch.Tensor):
            return torch.from_numpy(self.matrix).to(vector.dtype) @ vector
        return self.matrix @ np.asarray(vector, dtype=np.float64)


def reference(case: Case) -> Values:
    """The best point within the directions b, A b, A² b …, as many as there are iterations."""
    matrix, right = floats(case["matrix"]), floats(case["b"])
    start = floats(case["x0"])
    residual = right - matrix @ start
    basis: list[Array] = []
    direction = residual
    for _ in range(min(int(case.given.get("iterations", UNTOLD)), len(right))):
        across = direction - sum(((each @ direction) * each for each in basis), np.zeros_like(direction))
        if np.linalg.norm(across) < 1e-9 * max(1.0, float(np.linalg.norm(direction))):
            break
        basis.append(across / np.linalg.norm(across))
        direction = matrix @ basis[-1]
    if not basis:
        return {"solution": start}
    span = np.stack(basis, axis=1)
    return {"solution": start + span @ np.linalg.solve(span.T @ matrix @ span, span.T @ residual)}


def variant(
    case: Case,
    *,
    beta: str = "usual",  # usual, inverted, none, one
    direction: str = "updated",  # updated, kept
    alpha: str = "usual",  # usual, inverted, p·p, Ap·Ap
    x_sign: float = 1.0,
    r_sign: float = -1.0,
    residual: str = "updated",  # updated, kept
    size: str = "updated",  # of the residual: updated, kept
    x: str = "added",  # added, replaced
    start: str = "x0",  # x0, b
    once: bool = False,
    alias: str = "",  # the first direction is the residual itself, which is changed before x is, or after
    stop: bool = True,
) -> Values:
    matrix, right = floats(case["matrix"]), floats(case["b"])
    solution = right.copy() if start == "b" else floats(case["x0"]).copy()
    r = right - matrix @ floats(case["x0"])
    p = r.copy()
    rr = r @ r
    with np.errstate(all="ignore"):
        for number in range(1 if once else int(case.given.get("iterations", UNTOLD))):
            if stop and rr < 1e-20:
                break
            z = matrix @ p
            below = {"usual": p @ z, "inverted": p @ z, "p·p": p @ p, "Ap·Ap": z @ z}[alpha]
            step = below / rr if alpha == "inverted" else rr / below
            if alias == "before" and number == 0:
                p = p + r_sign * step * z
            solution = (solution if x == "added" else 0.0) + x_sign * step * p
            if residual == "updated":
                r = r + r_sign * step * z
            new = r @ r
            if alias == "after" and number == 0:
                p = r
            share = {"usual": new / rr, "inverted": rr / new, "none": 0.0, "one": 1.0}[beta]
            if stop and new < 1e-10:
                break
            if direction == "updated":
                p = r + share * p
            if size == "updated":
                rr = new
    return {"solution": np.asarray(solution)}


def cases() -> list[Case]:
    two = [[2, 1], [1, 3]]
    three = [[4, 1, 0], [1, 3, 1], [0, 1, 2]]
    return [
        _case("one equation", [[2]], [4], 1, edge=True),
        _case("two equations", two, [1, 2], 2),
        _case("two equations, one iteration", two, [1, 2], 1),
        _case("three equations", three, [1, -2, 4], 3),
        _case("three equations, two iterations", three, [1, -2, 4], 2),
        _case("solved after one iteration of three", [[2, 0], [0, 4]], [4, 0], 3),
        _case("a start of its own", two, [1, 2], 2, x0=[1, -1]),
    ]


def _case(name: str, matrix: Any, b: Any, iterations: int, *, x0: Any = None, edge: bool = False) -> Case:
    given: dict[str, Any] = {"matrix": floats(matrix), "b": floats(b), "iterations": iterations}
    given["x0"] = np.zeros(len(b)) if x0 is None else floats(x0)
    return Case(name, given, needs=frozenset() if x0 is None else frozenset({"x0"}), edge=edge)


def fair(case: Case, bound: frozenset[str]) -> bool:
    """Without a number of iterations, only what is solved in any number of them."""
    return case.needs <= bound and ("iterations" in bound or case["iterations"] >= len(case["b"]))


def told(case: Case, bound: frozenset[str]) -> Case:
    return case if "iterations" in bound else case.but(iterations=UNTOLD)


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    size = draw(st.integers(2, 3))
    numbers = st.integers(-2, 2).map(float)
    lower = floats(draw(st.lists(st.lists(numbers, min_size=size, max_size=size), min_size=size, max_size=size)))
    b = draw(st.lists(numbers, min_size=size, max_size=size).filter(any))
    return _case("equations drawn at random", lower @ lower.T + np.eye(size), b, size)


def rebuild(given: Any) -> Case:
    product, b = given.get("product"), floats(given["b"])
    matrix = given.get("matrix")
    if matrix is None:
        matrix = np.stack([floats(product(torch.eye(len(b))[i])) for i in range(len(b))], axis=1)
    start = given.get("x0")
    return _case(
        "as called", matrix, b, int(given.get("iterations", UNTOLD)), x0=np.zeros(len(b)) if start is None else start
    )


_PRODUCT = (
    "Ax f_Ax A_x Avp Avp_fn matvec mat_vec matrix_vector_product matrix_vector_dot_fn mvp MVP fvp Fvp f_Avp hvp "
    "hvp_fn fvp_fn Hx "
    "hessian_vector_product fisher_vector_product A A_fn A_func f func fn linear_operator compute_Ax Ap "
    "hessian_vector hv "
    "fvp_func hvp_func fisher_product mvp_fn vector_product operator product Ax_fn Av f_hvp Hvp get_fvp compute_fvp "
    "compute_Hx "
    "Fx F H Fv Hv avp_f hessian_vector_product_fn fisher_vector_product_fn apply_A matvec_fn mat_vec_fn dot"
)

CONJUGATE_GRADIENT = Oracle(
    name="conjugate-gradient",
    aliases="cg conjugate-gradients conjugate-gradient-solver",
    code="OPT130",
    summary="Conjugate gradients: solves A x = b with products A p alone.",
    formula="α = r·r / p·Ap,  x ← x + α p,  r ← r − α A p,  β = r'·r' / r·r,  p ← r' + β p",
    example="def conjugate_gradient(Ax, b, nsteps, residual_tol=1e-10)",
    references="Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*.",
    quantities=(
        Quantity("product", _PRODUCT, None, "object", of=lambda case: Product(case["matrix"]), meaning="v → A v"),
        Quantity("matrix", "A matrix mat a H F hessian fisher_matrix fisher", "DE"),
        Quantity("b", "b g grad gradient gradients grads rhs right_hand_side vector loss_grad pg policy_gradient "
                      "flat_grad bvec "
                 "minibatch policy_gradients policy_grad flat_gradient objective_grad y target v neg_grad minus_grad "
                 "d r r0", "D"),
        Quantity("x0", "x0 x_0 x_init init_x initial_guess x guess x_start start", "D"),
        Quantity("iterations", "iterations nsteps n_steps num_steps cg_iters iters max_iter max_iters n_iters "
                               "num_iters steps cg_steps "
                 "max_iterations cg_iterations n_iterations num_iterations niter k n_iter maxiter cg_max_iter "
                 "iter_num cg_max_steps cg_step", "",
                 "int"),
        Quantity("tolerance", "tolerance tol residual_tol eps epsilon cg_residual_tol threshold rtol atol error_tol "
                              "delta "
                 "residual_tolerance res_tol", "", "int", of=lambda case: 1e-10),
        Quantity("not used here", "flat_kl_grad obs observations states policy actor model params callback verbose "
                                  "batch grad_kl "
                 "kl mean_kl network net info state", None, "object", of=lambda case: None),
    ),
    outputs=(Output("solution", "solution x result step direction stepdir", "D"),),
    required=("product|matrix", "b"),
    columns=("matrix", "b", "x0", "iterations"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    rebuild=rebuild,
    tolerance=1e-3,
    mistakes=(
        Mistake(
            "OPT131", "conjugate-gradient-beta-inverted", "β is the old size of the residual over the new one.",
            knobs={"beta": "inverted"},
            wrong="beta = rdotr / new_rdotr",
            right="beta = new_rdotr / rdotr",
            harm="Directions are no longer conjugate: x runs away from the solution, and the step of the policy with "
                 "it.",
            fix="divide the new r·r by the old",
        ),
        Mistake(
            "OPT132", "conjugate-gradient-steepest-descent", "The direction is the residual alone: β p is left out.",
            knobs={"beta": "none"},
            wrong="p = r",
            right="p = r + beta * p",
            harm="This is steepest descent: after ten iterations x is far from the solution.",
            fix="add β times the direction before",
        ),
        Mistake(
            "OPT133", "conjugate-gradient-direction-kept", "The direction is never changed.",
            knobs={"direction": "kept"},
            wrong="x += alpha * p; r -= alpha * Ap  # and p stays b",
            right="x += alpha * p; r -= alpha * Ap; p = r + beta * p",
            harm="x is a multiple of b: the step is the plain gradient, not the natural one.",
            fix="update p at the end of each iteration",
        ),
        Mistake(
            "OPT134", "conjugate-gradient-alpha-inverted", "α is p·Ap over r·r.",
            knobs={"alpha": "inverted"},
            wrong="alpha = p.dot(Ap) / rdotr",
            right="alpha = rdotr / p.dot(Ap)",
            harm="Steps are long where the curvature is high: x runs away.",
            fix="divide r·r by p·Ap",
        ),
        Mistake(
            "OPT135", "conjugate-gradient-alpha-wrong-product", "The denominator of α is not p·Ap.",
            knobs=({"alpha": "p·p"}, {"alpha": "Ap·Ap"}),
            wrong="alpha = rdotr / p.dot(p)",
            right="alpha = rdotr / p.dot(Ap)",
            harm="The length of each step does not know the curvature: x is not the solution.",
            fix="divide by p·Ap",
        ),
        Mistake(
            "OPT136", "conjugate-gradient-residual-grows", "α A p is added to the residual, not subtracted.",
            knobs={"r_sign": 1.0},
            wrong="r += alpha * Ap",
            right="r -= alpha * Ap",
            harm="The residual grows at each iteration, and x with it.",
            fix="subtract",
        ),
        Mistake(
            "OPT137", "conjugate-gradient-x-sign", "α p is subtracted from x: the solution has the opposite sign.",
            knobs={"x_sign": -1.0},
            wrong="x -= alpha * p",
            right="x += alpha * p",
            harm="The policy is moved in the direction that makes it worse.",
            fix="add",
        ),
        Mistake(
            "OPT138", "conjugate-gradient-residual-kept", "The residual is never changed.",
            knobs={"residual": "kept"},
            wrong="x += alpha * p",
            right="x += alpha * p; r -= alpha * Ap",
            harm="Every iteration acts as if nothing were solved yet: x overshoots.",
            fix="subtract α A p from the residual",
        ),
        Mistake(
            "OPT139", "conjugate-gradient-size-kept", "r·r of the first residual is used in all iterations.",
            knobs={"size": "kept"},
            wrong="beta = r.dot(r) / rdotr  # and rdotr stays",
            right="new_rdotr = r.dot(r); beta = new_rdotr / rdotr; rdotr = new_rdotr",
            harm="α is too large from the second iteration on: x overshoots.",
            fix="set rdotr = new_rdotr at the end of each iteration",
        ),
        Mistake(
            "OPT140", "conjugate-gradient-x-replaced", "x is the last step alone: steps are not added up.",
            knobs={"x": "replaced"},
            wrong="x = alpha * p",
            right="x = x + alpha * p",
            harm="Only the last and smallest correction is left.",
            fix="add to x",
        ),
        Mistake(
            "OPT141", "conjugate-gradient-starts-at-b", "x begins at b, while the residual is that of x = 0.",
            knobs={"start": "b"},
            wrong="x = b.clone(); r = b.clone()",
            right="x = torch.zeros_like(b); r = b.clone()",
            harm="The solution is off by b, the plain gradient.",
            fix="begin at zeros, or with r = b − A x",
        ),
        Mistake(
            "OPT142", "conjugate-gradient-one-iteration", "Only one iteration is made.",
            knobs={"once": True},
            wrong="if rdotr > tol: break",
            right="if rdotr < tol: break",
            harm="x is a multiple of b: the step is the plain gradient, not the natural one.",
            fix="leave the loop only where the residual is small; check where return stands",
        ),
        Mistake(
            "OPT143", "conjugate-gradient-shares-residual",
            "The direction and the residual are one tensor, changed in place.",
            knobs=({"alias": "after"}, {"alias": "before"}),
            wrong="p = r = b.clone(); r -= alpha * Ap",
            right="p = b.clone(); r = b.clone(); r -= alpha * Ap",
            harm="The second direction is wrong, and all that follow.",
            fix="copy: p = r.clone()",
        ),
        Mistake(
            "OPT144", "conjugate-gradient-divides-by-zero", "It goes on when the residual is zero, and gives NaN.",
            knobs={"stop": False},
            wrong="for _ in range(nsteps): alpha = rdotr / p.dot(Ap)",
            right="for _ in range(nsteps): alpha = rdotr / p.dot(Ap); …; if rdotr < tol: break",
            harm="A problem that is solved early ends in 0/0: the parameters become NaN.",
            fix="leave the loop where r·r is below a tolerance",
        ),
    ),
)  # fmt: skip
