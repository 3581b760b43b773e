"""The mask is that of the step before."""

AGENT = "masks"
SWITCH = "mask of the step before"
RUNG = "masked-actions"
EXPECT = "ACT012"
SUSPECT = "action-sampling"
