"""What in a program a rule that judges its data speaks about: the quantity whose statement a finding points at."""

from __future__ import annotations

from typing import Literal

Aim = Literal[
    "formula",  # rewards become returns
    "discount",  # the same; or the discount that a library is given
    "sums",  # rewards of several steps are summed
    "ends",  # ends of episodes cut the future off
    "next",  # what is expected of the next state, and added to the reward
    "again",  # one observation for two
    "weight",  # what the loss makes of returns: advantages, targets
    "weighed",  # scores are compared, before log-probs are weighed by them
    "advantage",  # a return less what was expected
    "rows",  # what an environment gave is stored
    "indices",  # rows are drawn
    "noise",  # what is added to actions in the next state
    "clipped",  # actions are cut off at their bounds
    "scored",  # a network is asked, and something made of its answer
    "loss",  # what is minimised
    "acted",  # the environment is stepped
    "drawn",  # actions are drawn
    "sampled",  # the same, of a distribution that a network gives
    "scores",  # chances are made of what a network gives
    "statistics",  # moments of observations are taken
    "copies",  # weights go from one network into another
    "threshold",  # how often actions are random
    "environment",  # step() of the environment
    "reset",  # reset() of the environment
    "frames",  # the wrapper that stacks observations
    "made",  # the environment is made
    "restarted",  # reset() is called between episodes
    "seeded",  # reset() is given a seed
    "evaluation",  # episodes are played that nothing is learned from
    "optimizer",  # an optimizer is made
]

_CODES: dict[Aim, str] = {
    "formula": """
        DIS001 DIS003 DIS004 DIS005 DIS309 DIS350 ADV322 ADV324 ADV325 ADV326 ADV351 ADV352 ADV353
        VAL300 VAL332""",
    "discount": "DIS307 DIS308 DIS311",
    "sums": "DIS351",
    "ends": "DIS006 DIS008 DIS300 DIS301 DIS302 DIS304 DIS310 ADV355",
    "next": """
        DIS303 DIS305 DIS306 TGT307 VAL362 VAL363 VAL370 VAL371 VAL372 VAL390 VAL392 VAL396
        ENT365""",
    "again": "BUF302",
    "weight": "ADV002 ADV003 ADV004 ADV321 ADV323 ADV354 VAL360 VAL361 VAL368",
    "weighed": "ADV370 ADV371 ADV373 ADV378",
    "advantage": "ADV300",
    "rows": """
        BUF006 BUF007 BUF300 BUF301 BUF303 BUF304 BUF305 BUF306 BUF316 BUF317 BUF340 BUF341 BUF353 BUF354 BUF370 BUF373
        """,
    "indices": "BUF307 BUF308 BUF309 BUF312 BUF313 BUF319",
    "noise": "TGT372 TGT373 TGT376",
    "clipped": "ACT320 ACT357",
    "scored": "POL005 POL300 POL380 POL381 POL382 POL383 POL384 POL385",
    "loss": "POL303 POL305 POL307 POL308 POL340 POL370 POL371 POL372 ENT300 ENT360 ENT361 ENT363 ENT364 GRA300",
    "acted": "ACT300 ACT301 ACT302 ENV003 ENV300",
    "drawn": """
        ACT001 ACT321 ACT323 ACT327 ACT355 ACT370 ACT371 ACT375 ACT376 ACT377
        ACT378 EXP302""",
    "sampled": "POL373",
    "scores": "ACT322 ACT326 ACT328 ACT329 ACT332",
    "statistics": "NRM300",
    "copies": "TGT001 TGT002 TGT300 TGT301 TGT302 TGT306 TGT370 TGT371 TGT374",
    "threshold": "EXP002 EXP003 EXP004 EXP300 EXP301 EXP303 EXP304 EXP305",
    "environment": "ENV302 ENV305 ENV306 ENV308 ENV309 ENV351 ENV352",
    "reset": "ENV307 ENV310 ENV350",
    "frames": "PRE306",
    "made": "ENV303",
    "restarted": "BUF501",
    "seeded": "SEE302 SEE350",
    "evaluation": "EVA304 EVA305 EVA353 EVA358 NRM305 NRM361 NRM362",
    "optimizer": "OPT308 OPT309 OPT311 OPT312",
}
AIMS: dict[str, Aim] = {code: aim for aim, codes in _CODES.items() for code in codes.split()}
"""Code -> what it speaks about. Rules that are not here know their line themselves, or nobody does."""
