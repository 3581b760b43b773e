"""Each text has `# here` where the mistake is, and `# seen` where it showed."""

from textwrap import dedent

import pytest

from rldebug import catalogue
from rldebug.evidence.script import Audit, Event, Script
from rldebug.evidence.source import parsed
from rldebug.finding import Finding, Where
from rldebug.forensics.placed import FOUND, placed

AIMS = {rule.code: rule.aim for rule in catalogue.rules() if rule.aim}


def finding(code, where=None):
    return Finding(code, "it", "discounting", "error", "m", "s", "e", "h", 0.9, where or Where(update=3))


def place(code, *texts, script=None):
    """Where a finding goes that showed at the line marked `# seen`, or nowhere."""
    sources = [parsed(dedent(each), f"/project/file{number}.py") for number, each in enumerate(texts)]
    seen = [(each.file, line) for each in sources for line in marked(each, "# seen")]
    where = Where(file=seen[0][0], line=seen[0][1], update=3) if seen else Where(update=3)
    [told] = placed([finding(code, where)], script or Script(), sources, AIMS)
    here = [(each.file, line) for each in sources for line in marked(each, "# here")]
    return told.where, here, where


def marked(source, mark):
    return [number for number, line in enumerate(source.lines, 1) if line.rstrip().endswith(mark)]


def one_line(code, *texts, script=None):
    found, here, old = place(code, *texts, script=script)
    assert (found.file, found.line, found.end_line) == (*here[0], None)
    assert found.update == 3
    assert found.seen_at == (None if old.line is None or old.line == found.line else f"{old.file}:{old.line}")


def lines(code, *texts, function, script=None):
    found, here, _ = place(code, *texts, script=script)
    assert (found.file, found.line, found.end_line) == (here[0][0], here[0][1], here[-1][1])
    assert found.function == function


def stays(code, *texts, script=None):
    found, _, old = place(code, *texts, script=script)
    assert found == old


FLAT = """
    import random, torch
    memory, net, slow = [], make(), make()
    state, _ = world.reset()
    for t in range(1000):
        move = agent(state)
        after, pay, dead, late, _ = world.step(move)
        memory.append((state, move, pay, after, dead))  # {stored}
        state = after
        x, a, r, y, d = map(torch.tensor, zip(*random.sample(memory, 32)))
        with torch.no_grad():
            hope = r + 0.9 * slow(y).max(1)[0]  # {formula}
        claim = net(x).gather(1, a)
        error = torch.nn.functional.mse_loss(claim, hope)  # seen
        error.backward()
"""


def flat(**marks):
    return FLAT.format(**{"stored": "", "formula": "", **marks}).replace("  # \n", "\n")


@pytest.mark.parametrize("code", ["DIS300", "DIS307", "DIS350"])
def test_a_flat_script_with_rows_in_a_list(code):
    one_line(code, flat(formula="here"))


def test_rows_are_where_they_are_stored():
    one_line("BUF340", flat(stored="here"))


def test_the_same_observation_twice_was_asked_about_in_the_loss():
    one_line("BUF302", flat(formula="here").replace("slow(y)", "slow(x)"))


def test_the_same_observation_twice_was_stored():
    one_line("BUF302", flat(stored="here").replace("pay, after, dead", "pay, state, dead"))


DOUBLE = """
    import torch
    net, slow, kept = make(), make(), []
    def ahead(y):
        pick = net(y).argmax(1)  # ASKED
        return slow(y).gather(1, pick)  # ASKED
    def goal(rows):
        x, r, y = rows
        return r + 0.9 * ahead(y)
    for _ in range(9):
        y, r, over, late, _ = env.step(0)
        kept.append((x, r, y))  # STORED
        x = y
        rows = torch.tensor(kept)
        loss = (net(rows[0]) - goal(rows)).pow(2).mean()  # seen
        loss.backward()
"""


def test_a_function_that_asks_the_networks():
    lines("TGT307", DOUBLE.replace("ASKED", "here"), function="ahead")


def test_networks_that_are_asked_about_the_same_next_state_were_stored_right():
    one_line("BUF302", DOUBLE.replace("STORED", "here"))


METHODS = """
    class Learner:
        def __init__(self):
            self.net, self.game = Net(), Game()

        def gather(self):
            rows = {"obs": [], "gain": [], "stop": [], "guess": []}
            for _ in range(64):
                pick, guess = self.net(self.now)
                rows["obs"].append(self.now)
                self.now, gain, over, late, info = self.game.step(pick)
                rows["gain"].append(gain)
                rows["stop"].append(over)
                rows["guess"].append(guess)
            return rows

        def credit(self, rows, tail):
            carry, out = 0.0, []
            for k in reversed(range(64)):
                live = 1.0 - rows["stop"][k]  # MASK
                step = rows["gain"][k] + self.gamma * live * tail - rows["guess"][k]  # FORMULA
                carry = step + self.gamma * self.lam * live * carry  # FORMULA
                out.append(carry)
            return out

        def improve(self, rows, tail):
            weights = torch.stack(self.credit(rows, tail))
            pick, guess = self.net(rows["obs"])
            loss = -(pick.log_prob(rows["obs"]) * weights).mean()  # seen
            loss.backward()
"""


def test_methods_of_a_class_with_a_dict_of_lists():
    lines("ADV325", METHODS.replace("FORMULA", "here"), function="credit")


def test_a_mask_that_is_wrong_is_where_it_is_computed():
    one_line("ADV355", METHODS.replace("MASK", "here"))


def test_a_mask_that_is_missing_is_missing_in_the_formula():
    text = METHODS.replace("self.gamma * live * tail", "self.gamma * tail").replace("FORMULA", "here", 1)
    one_line("DIS300", text)


ARRAYS = """
    import numpy as np
    def rollout(env, net, n):
        gains, ends, guesses = np.zeros(n), np.zeros(n), np.zeros(n)
        for i in range(n):
            guesses[i] = net(state)
            state, gains[i], ends[i], late, _ = env.step(0)
        total, out = 0.0, np.zeros_like(gains)
        for i in range(n - 1, -1, -1):
            total = gains[i] + 0.9 * total  # here
            out[i] = total
        return out

    def train(env, net):
        goals = rollout(env, net, 64)
        loss = ((net(1) - goals) ** 2).mean()  # seen
        loss.backward()
"""


def test_arrays_that_are_filled_in_place():
    one_line("DIS309", ARRAYS)


def test_functions_inside_of_a_function():
    one_line(
        "DIS311",
        """
        def memory_of(size):
            kept = {}
            def add(x, r, y):
                kept["r"][0], kept["x"][0], kept["y"][0] = r, x, y
            def draw():
                return {name: each[0] for name, each in kept.items()}
            return add, draw

        def main():
            add, draw = memory_of(100)
            def improve():
                batch = draw()
                goal = batch["r"] + gamma * gamma * net(batch["y"])  # here
                loss = (net(batch["x"]) - goal).square().mean()
                loss.backward()  # seen
            for _ in range(100):
                y, r, over, late, _ = env.step(0)
                add(x, r, y)
                improve()
        """,
    )


def test_several_files():
    one_line(
        "DIS300",
        """
        from memory import Memory
        from targets import goals
        class Agent:
            def __init__(self):
                self.memory, self.net = Memory(), make_network()
            def play(self):
                after, gain, over, late, _ = env.step(self.pick())
                self.memory.push(self.state, gain, after, over)
            def learn(self):
                rows = self.memory.draw()
                loss = (self.net(rows.before) - goals(self.net, rows, 0.9)).abs().mean()  # seen
                loss.backward()
        """,
        """
        from collections import namedtuple
        Rows = namedtuple("Rows", "before gain after over")
        class Memory:
            def push(self, *parts):
                self.kept.append(Rows(*parts))
            def draw(self):
                return Rows(*zip(*self.kept))
        """,
        """
        def goals(net, rows, gamma):
            ahead = net(rows.after).max(-1)
            return rows.gain + gamma * ahead  # here
        """,
    )


def test_what_a_function_of_a_library_is_given():
    one_line(
        "DIS300",
        """
        from somewhere import gae
        critic = make()
        for _ in range(100):
            obs, reward, over, late, _ = env.step(policy(obs))
            buffer.add(obs=obs, reward=reward)
            batch = buffer.sample()
            advantage, target = gae(batch["reward"], critic(batch["obs"]))  # here
            loss = (critic(batch["obs"]) - target).pow(2).mean()  # seen
            loss.backward()
        """,
    )


def test_the_threshold_of_random_actions():
    one_line(
        "EXP300",
        """
        import random
        def chance(t):
            return max(0.05, 1.0 + t / 500)  # here
        def pick(x, t):
            if random.random() < chance(t):
                return random.randrange(3)
            return net(x).argmax()  # seen
        """,
    )


def test_a_weight_that_still_has_the_networks_answer_in_it():
    one_line(
        "ADV300",
        """
        net = make()
        said, worth = net(rows)
        weight = known - worth  # here
        push = -(said * weight).mean()  # seen
        push.backward()
        """,
    )


def test_steps_that_are_summed_by_a_function_of_their_own():
    lines(
        "DIS351",
        """
        net, window, kept = make(), [], []
        def joined(window):  # here
            total = 0.0
            for k, (x, r) in enumerate(window):
                total += 0.9 ** k * r
            return window[0][0], total, 0.9  # here
        def learn(rows):
            x, total, rate = rows
            loss = (net(x) - (total + rate * net(x))).mean()  # seen
            loss.backward()
        for _ in range(9):
            x, r, over, late, _ = env.step(0)
            window.append((x, r))
            kept.append(joined(window))
            learn(kept[0])
        """,
        function="joined",
    )


def test_the_next_episode():
    text = """
        for _ in range(9):
            x, r, over, late, _ = env.step(0)
            if over:
                env.reset()  # here
            loss = (net(x) - r).mean()  # seen
            loss.backward()
    """
    one_line("BUF501", f"x = env.reset(){text}".replace("\n        ", "\n"))


def test_scores_that_are_compared_before_log_probs_are_weighed_by_them():
    one_line(
        "ADV371",
        """
        net = make()
        def credit(scores):
            return (scores - scores[0]) / 0.1  # here
        def learn(rows, scores):
            chances = net(rows)  # seen
            loss = -(chances.log_softmax(-1) * credit(scores) * (1.0 - done)).mean()
            loss.backward()
        """,
    )


def test_the_draw_behind_the_action():
    text = """
        def draw(mean, spread):  # here
            noise = torch.randn_like(mean)
            return mean + noise  # here
        for _ in range(10):
            x, r, over, late, _ = env.step(draw(net(x), 0.1))
            loss = (net(x) - r).mean()  # seen
            loss.backward()
    """
    lines("ACT323", text, function="draw")


def test_noise_beside_the_answer_is_no_draw_from_it():
    text = """
        net = make()
        for _ in range(10):
            x, r, over, late, _ = env.step(net(x) + rng.normal(0, 1))
            loss = -critic(net(x).detach()).mean()  # seen
            loss.backward()
    """
    stays("POL373", text)


def test_an_action_that_is_not_drawn():
    one_line(
        "ACT321",
        """
        net = make()
        for _ in range(10):
            move = net(x).probs.argmax(-1)  # here
            x, r, over, late, _ = env.step(move)
            loss = (net(x) - r).mean()  # seen
            loss.backward()
        """,
    )


def test_weights_that_are_copied():
    one_line(
        "TGT302",
        """
        slow = copy.deepcopy(net)
        slow.load_state_dict(net.state_dict())
        for _ in range(10):
            loss = (net(x) - slow(x)).mean()  # seen
            loss.backward()
            for mine, other in zip(slow.parameters(), net.parameters()):
                mine.data.copy_(other.data)  # here
        """,
    )


def stream(**facts):
    return Script(things={"stream": {"0": {"index": 0, "learned": 64, "facts": facts}}})


GAME = """
    class Game:
        def reset(self):  # RESET
            self.clock = 0
            return self.look()  # RESET
        def step(self, move):  # STEP
            self.clock += 1
            return self.look(), 1.0, self.clock > 9, False, {}  # STEP
    class Other:
        def step(self, move):
            return 0
"""


@pytest.mark.parametrize(("code", "method"), [("ENV310", "reset"), ("ENV351", "step")])
def test_methods_of_the_environment(code, method):
    lines(code, GAME.replace(method.upper(), "here"), function=method, script=stream(**{"class": "Game"}))


def test_an_environment_of_a_library_has_no_place():
    stays("ENV310", GAME, script=stream(**{"class": "CartPoleEnv"}))


def test_the_loss_behind_backward():
    one_line(
        "ENT361",
        """
        def learn():
            loss = (alpha * (logp + wanted)).mean()  # here
            opt.zero_grad()
            loss.backward()
            opt.step()  # seen
        """,
    )


def test_the_loss_that_trains_the_policy():
    where = {"line": ["/project/file0.py", 6]}
    events = (
        Event(0, "loss", 0, 0, where),
        Event(1, "term", 0, 0, {"kind": "output"}),
    )
    audit = Audit(0, 0, 0, 0, None, events)
    text = """
        worth = (critic(x) - goal).pow(2).mean()
        worth.backward()

        chosen = critic(actor(x)).mean()  # here
        chosen.backward()
    """
    one_line("POL370", text, script=Script([audit]))
    stays("POL370", text)  # nobody knows which of the two


# ── where nobody knows, the line stays ──


TERM = "bonus = dist.entropy().mean()  # seen\nloss = policy(x) + bonus{}\nloss.backward()"


def test_a_term_of_a_loss_stays_where_it_is():
    stays("ENT364", TERM.format(""))


def test_a_term_gets_its_sign_where_it_is_added():
    one_line("ENT300", TERM.format("  # here"))


def test_a_program_that_steps_no_environment():
    stays("DIS300", "goal = reward + 0.9 * slow(y)\nloss = (net(x) - goal).mean()  # seen\nloss.backward()")


def test_rows_that_are_stored_all_over_the_program():
    stored = "o, r, end, late, info = env.step(0)\na.append(r)\n" + "x = 1\n" * 20 + "b.append(end)\n"
    stays("BUF340", f"{stored}loss = compute(a, b)\nloss.backward()  # seen")
    found, *_ = place("BUF340", f"{stored.replace('x = 1', '')}loss = compute(a)\nloss.backward()  # seen")
    assert found.line == 2


def test_two_functions_that_make_returns():
    text = """
        net = make()
        def one(net, rows):
            return rows[0] + 0.9 * net(1)
        def other(net, rows):
            return rows[0] + 0.5 * net(2)
        rows = []
        o, r, end, late, info = env.step(0)
        rows.append(r)
        first = (net(o) - one(net, rows)).mean()
        second = (net(o) - other(net, rows)).mean()
        (first + second).backward()
    """
    stays("DIS307", text)
    one_line(
        "DIS307",
        text.replace("0.5 * net(2)", "0.5 * net(2)  # here").replace(
            "rows)).mean()\n        (", "rows)).mean()  # seen\n        ("
        ),
    )


def test_two_functions_that_make_draws():
    stays(
        "EXP300",
        """
        import random
        def one(x):
            return 0 if random.random() < 0.1 else net(x)
        def other(x):
            return 0 if random.random() < 0.2 else net(x)  # seen
        """,
    )


def test_a_library_that_computes_it():
    stays("DIS300", "from stable_baselines3 import PPO\nPPO('MlpPolicy', env).learn(1000)  # seen")


def test_the_discount_that_a_library_is_given():
    one_line("DIS307", "from stable_baselines3 import PPO\nPPO('MlpPolicy', env, gamma=0.1).learn(9)  # here")


def test_findings_of_other_rules_stay():
    stays("OPT303", flat())


def test_without_text_nothing_moves():
    [told] = placed([finding("DIS300", Where("a.py", 3))], Script(), [], AIMS)
    assert told.where == Where("a.py", 3)


def test_aims_are_of_rules_that_judge_what_was_recorded_and_each_is_found_somehow():
    assert {rule.reads for rule in catalogue.rules() if rule.aim} == {"Script", "Run"}
    assert set(AIMS.values()) == set(FOUND)
