#!/usr/bin/env bash
# Installs a wheel into an environment that has nothing else, and tries what needs the files in it.
# usage: scripts/smoke_wheel.sh dist/rldebug-….whl   (PYTHON=python3.12 for another Python; PIP_ARGS for pip)
set -euo pipefail

wheel=$(realpath "${1:?usage: scripts/smoke_wheel.sh WHEEL}")
constraints=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../constraints.txt")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

"${PYTHON:-python3}" -m venv "$place/venv"
# shellcheck disable=SC2086
"$place/venv/bin/python" -m pip install -qq --disable-pip-version-check --constraint "$constraints" ${PIP_ARGS:-} "$wheel"
export PATH="$place/venv/bin:$PATH"
cd "$place"
unset PYTHONPATH

try() {  # try STATUS COMMAND …: ends with that status, or the smoke test fails
    local wanted=$1 status=0
    shift
    echo "· $*"
    "$@" >out.txt 2>err.txt || status=$?
    if [ "$status" != "$wanted" ]; then
        cat out.txt err.txt
        echo "exit status $status, expected $wanted" >&2
        exit 1
    fi
}
has() { grep -q -- "$1" "$2" || { echo "no '$1' in $2" >&2; exit 1; }; }

cat >train.py <<'PY'
import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    loss = net(torch.rand(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
PY

try 0 rldebug --version
try 0 rldebug --help
try 0 rldebug completion bash
try 1 rldebug lint train.py --sarif lint.sarif
has '"version": "2.1.0"' lint.sarif
try 0 rldebug explain ADV003
has advantage-sign-flipped out.txt
echo 'RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x4 and 3x2)' >log.txt
try 1 rldebug explain log.txt
try 0 rldebug catalogue --json
try 0 rldebug hyperparameters ppo --env CartPole-v1
try 0 rldebug verify --list
try 0 rldebug probe --list
try 0 rldebug baseline CartPole-v1 --episodes 3
try 0 rldebug demo --html demo.html --json demo.json
has '<style>' demo.html
run=.rldebug/runs/demo-broken
try 1 rldebug report "$run" --html report.html --json report.json
has '<style>' report.html
has 'data-chart' report.html
try 2 rldebug dashboard --no-open
has "pip install 'rldebug\[dashboard\]'" err.txt
python - <<'PY'
import importlib.resources as resources
import json

import rldebug

package = resources.files(rldebug)
json.loads((package / "report.schema.json").read_text(encoding="utf-8"))
json.loads((package / "render" / "healthy_bands.json").read_text(encoding="utf-8"))
assert (package / "py.typed").is_file()
assert "rldebug-cell" in rldebug.Report("smoke")._repr_html_()
PY
echo "the wheel works: $(rldebug --version)"
