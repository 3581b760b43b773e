from rldebug.evidence.machine import Trial
from rldebug.rules.installation.atari_does_not_start import AtariDoesNotStart
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_the_namespace_is_not_found():
    said = "NamespaceNotFound: Namespace ALE not found"
    finding = names(AtariDoesNotStart(), machine(Trial("atari", "error", "making ALE/Pong-v5", said)))
    assert finding.seen == f"ale-py 0.12.1, gymnasium 1.4.0: making ALE/Pong-v5: {said}"


def test_quiet_when_pong_is_played():
    quiet(AtariDoesNotStart(), machine())
