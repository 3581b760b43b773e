"""A table has a row for every observation to the last digit: with noise no two are the same."""

AGENT = "masks"
SWITCH = "a row for every observation"
RUNG = "noisy-observation"
EXPECT = "PRE016"
SUSPECT = "preprocessing"
ALSO = {
    "network": "a table stands where a network should be",
}
CONTROLS = True
