"""The mask is taken for the actions that are forbidden (ACT-16)."""

AGENT = "masks"
SWITCH = "mask inverted"
RUNG = "masked-actions"
EXPECT = "ACT012"
SUSPECT = "action-sampling"
CONTROLS = True
