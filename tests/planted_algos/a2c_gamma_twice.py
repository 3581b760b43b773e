"""The discount is applied to the flags as well as in the return: γ²."""

ALGO = "a2c"
REPLACE = [
    (
        "gamma=settings.gamma,\n                    lam",
        "gamma=settings.gamma**2,\n                    lam",
    ),
]
RUNG = "delayed-reward"
EXPECT = "DIS012"
SUSPECT = "discounting"
