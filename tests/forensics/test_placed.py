"""Each text has `# here` where the mistake is, and `# seen` where it showed."""

from textwrap import dedent
from types import SimpleNamespace

import pytest

from rldebug import catalogue
from rldebug.evidence.script import Audit, Event, Script
from rldebug.evidence.source import parsed
from rldebug.finding import Finding, Where
from rldebug.forensics import aimed_around
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


# ── what lies between the rows and the loss ──

STORED = """
    net, kept = make(), []
    def keep(x, r, gone, y):
        kept.append({"x": x, "r": r, "gone": gone, "y": y})
    for _ in range(99):
        y, r, over, late, _ = env.step(0)
        keep(x, r, late, y)  # STORE
        rows = draw(kept)
        goal = rows["r"] + 0.9 * (1 - rows["gone"]) * net(rows["y"])  # FORMULA
        loss = (net(rows["x"]) - goal).pow(2).mean()  # seen
        loss.backward()
"""


def test_an_end_that_the_formula_asks_for_was_stored_wrong():
    one_line("DIS300", STORED.replace("STORE", "here"))


def test_an_end_that_the_formula_does_not_ask_for():
    one_line("DIS300", STORED.replace(' * (1 - rows["gone"])', "").replace("FORMULA", "here"))


GUARDED = """
    def play(world, critic):
        pays = []
        over = late = False
        while not (over or late):
            now, pay, over, late, _ = world.step(0)
            pays.append(pay)
        rest = 0.0
        if {test}:  # GUARD
            rest = critic(now)
        return pays, rest

    def goals(pays, rest):
        out = []
        for pay in reversed(pays):
            rest = pay + 0.9 * rest  # FORMULA
            out.insert(0, rest)
        return out

    critic = make()
    for _ in range(9):
        pays, rest = play(world, critic)
        loss = (critic(x) - torch.tensor(goals(pays, rest))).pow(2).mean()  # seen
        loss.backward()
"""


@pytest.mark.parametrize(
    ("test", "wrong"), [("not late", "GUARD"), ("over", "GUARD"), ("late", "FORMULA"), ("not over", "FORMULA")]
)
def test_a_branch_that_asks_what_follows_an_end(test, wrong):
    one_line("DIS300", GUARDED.replace("{test}", test).replace(wrong, "here"))


EPISODES = """
    def goals(pays):
        rest, out = 0.0, []
        for pay in reversed(pays):
            rest = pay + 0.9 * rest  # FORMULA
            out.insert(0, rest)
        return out

    critic = make()
    for _ in range(9):
        seen = []
        for _ in range(4):
            over, pays = False, []
            while not over:
                now, pay, over, late, _ = world.step(0)
                pays.append(pay)
            seen.extend(pays)
            aims = goals(seen)  # CALL
        loss = (critic(x) - torch.tensor(aims)).pow(2).mean()  # seen
        loss.backward()
"""


def test_returns_of_one_episode_that_are_summed_over_others():
    one_line("DIS300", EPISODES.replace("CALL", "here"))
    one_line("DIS300", EPISODES.replace("goals(seen)", "goals(pays)").replace("FORMULA", "here"))


def test_the_end_of_a_trace_was_stored_wrong():
    text = """
        def credit(rows, tail):
            carry, out = 0.0, []
            for k in reversed(range(64)):
                step = rows["gain"][k] + 0.9 * (1 - rows["over"][k]) * tail - rows["guess"][k]
                carry = step + 0.9 * 0.95 * (1 - rows["cut"][k]) * carry  # FORMULA
                out.append(carry)
            return out

        net, rows = make(), {"gain": [], "over": [], "cut": [], "guess": []}
        for _ in range(64):
            now, gain, over, late, _ = game.step(0)
            rows["gain"].append(gain)
            rows["over"].append(over)
            rows["cut"].append(over)  # STORE
            rows["guess"].append(net(now))
        loss = -(score(now) * torch.stack(credit(rows, net(now)))).mean()  # seen
        loss.backward()
    """
    one_line("ADV322", text.replace("STORE", "here"))
    one_line("ADV322", text.replace(' * (1 - rows["cut"][k])', "").replace("FORMULA", "here"))
    one_line("ADV351", text.replace("FORMULA", "here"))


def test_rows_that_are_handed_over_behind_a_star():
    one_line(
        "DIS311",
        """
        class Memory:
            def put(self, x, r, y):
                self.x[0], self.r[0], self.y[0] = x, r, y

        net, memory = make(), Memory()
        for _ in range(9):
            y, r, over, late, _ = env.step(0)
            row = (x, r, y)
            memory.put(*row)
            goal = memory.r[0] + 0.9 * 0.9 * net(memory.y[0])  # here
            loss = (net(memory.x[0]) - goal).abs().mean()  # seen
            loss.backward()
        """,
    )


def test_a_term_that_is_weighed_before_it_is_added():
    one_line(
        "POL340",
        """
        score = dist.log_prob(moves)  # seen
        push = (score * worth).mean()  # here
        loss = push + 0.5 * (guess - goal).pow(2).mean()
        loss.backward()
        """,
    )


SURROGATE = """
    ratio = (score - old).exp()
    free, held = ratio * worth, ratio.clamp(0.8, 1.2) * worth
    push = -torch.max(free, held).mean()  # here
    near = guess.clamp(0, 1)
    gap = torch.max((guess - goal) ** 2, (near - goal) ** 2).mean()
    loss = push + gap
    loss.backward()
"""


def test_the_smaller_surrogate_and_not_the_larger_error_of_values():
    one_line("POL303", SURROGATE)


def test_the_ratio():
    one_line("POL353", SURROGATE.replace("  # here", "").replace("exp()", "exp()  # here"))


def test_targets_that_are_brought_into_order():
    text = """
        net, pays = make(), []
        for _ in range(9):
            x, pay, over, late, _ = env.step(0)
            pays.append(pay + 0.9 * net(x))
        goals = torch.stack(pays, dim=1).flatten()  # here
        loss = (net(x).flatten() - goals).pow(2).mean()  # seen
        loss.backward()
    """
    one_line("BUF342", text)


REGRESSION = """
    net = make()
    for _ in range(9):
        x, pay, over, late, _ = env.step(0)
        said = net(x).max(1).values  # PREDICTED
        goal = pay + 0.9 * net(x)  # MADE
        loss = crit(said, goal)  # seen
        loss.backward()
"""


def test_both_sides_of_a_regression():
    lines("VAL330", REGRESSION.replace("PREDICTED", "here").replace("MADE", "here"), function=None)
    one_line("VAL281", REGRESSION.replace("PREDICTED", "here"))


def test_windows_are_cut_at_ends():
    one_line(
        "BUF351",
        """
        class Window:
            def put(self, x, r, over, late):
                self.kept.append((x, r))
                if over or late:  # here
                    return [self.fold()]
                return []

            def fold(self):
                total = 0.0
                for x, r in reversed(self.kept):
                    total = r + 0.9 * total
                return total

        net, window, rows = make(), Window(), []
        for _ in range(9):
            y, r, over, late, _ = env.step(0)
            rows.extend(window.put(x, r, over, late))
            loss = (net(x) - torch.tensor(rows)).pow(2).mean()  # seen
            loss.backward()
        """,
    )


def test_the_mark_of_tokens_that_count():
    one_line(
        "POL385",
        """
        net = make()
        def write(ids):
            done, counted = zeros(4), []
            for _ in range(8):
                token = torch.multinomial(net(ids).softmax(-1), 1)
                done = done | (token == 3)
                counted.append(~done)  # here
                ids = torch.cat([ids, token], 1)
            return ids, torch.stack(counted)
        ids, counted = write(start)
        score = net(ids).log_softmax(-1)  # seen
        loss = -(score * counted).mean()
        loss.backward()
        """,
    )


# ── what stands around it ──


def test_the_parameters_that_an_optimizer_is_given():
    steps = (Event(0, "step", 0, 0, {"optimizer": "a", "line": ["/project/file0.py", 6]}),)
    made = {"optimizer": {"a": {"created": ["/project/file0.py", 3]}}}
    script = Script([Audit(0, 0, 0, 0, None, steps)], things=made)
    text = """
        weights = [*body.parameters()]  # here
        opt = Adam(weights)  # here
        def learn():
            loss.backward()  # seen
            opt.step()
    """
    lines("OPT306", text, function=None, script=script)


def test_a_learning_rate_that_is_set():
    text = """
        for group in opt.param_groups:
            group["lr"] *= 0.9  # here
        {}
    """
    one_line("OPT310", text.format(""))
    stays("OPT310", text.format("group['lr'] = 0.1"))


def test_the_call_that_is_missing_for_one_target(monkeypatch):
    text = """
        import copy
        slow = copy.deepcopy(net)
        def follow(one, other):
            for a, b in zip(one.parameters(), other.parameters()):
                b.data.lerp_(a.data, 0.01)
        for _ in range(9):
            loss.backward()  # seen
            follow(actor, slow_actor)  # CALL
    """
    still = [SimpleNamespace(still=True)]
    monkeypatch.setattr(aimed_around, "followers", lambda script: still)
    one_line("TGT300", text.replace("0.01)", "0.01)  # here"))
    monkeypatch.setattr(aimed_around, "followers", lambda script: [*still, SimpleNamespace(still=False)])
    one_line("TGT300", text.replace("CALL", "here"))


def test_the_second_name_of_a_network():
    text = """
        from torch import nn
        net = nn.Linear(4, 2)
        frozen = net  # here
        loss = (net(x) - frozen(x)).mean()  # seen
        loss.backward()
    """
    one_line("POL387", text)
    stays("POL387", text.replace("= net", "= nn.Linear(4, 2)"))


MEMORY = """
    from torch import nn
    cell = nn.GRUCell(4, 8)
    def through(rows, state):
        out = []
        for row in rows:
            state = cell(row, state)  # here
            out.append(state)
        return torch.stack(out)
    loss = through(rows, begin).mean()  # seen
    loss.backward()
"""


def test_the_state_that_goes_on_through_a_sequence():
    one_line("BUF368", MEMORY)


WORLD = """
    import numpy as np
    class World:
        def __init__(self):
            self.view = np.zeros(4)
        def look(self):
            seen = self.view  # here
            seen[:] = self.place
            return seen
        def reset(self):
            return self.look(), {}
        def step(self, move):
            return self.look(), 0.0, False, False, {}
    net, world = make(), World()
    x, _ = world.reset()
    for _ in range(9):
        y, r, over, late, _ = world.step(0)
        rows.append((x, r, y))
        loss = (net(rows[0][0]) - rows[0][1] - 0.9 * net(rows[0][2])).mean()  # seen
        loss.backward()
"""


@pytest.mark.parametrize("code", ["BUF302", "BUF501", "PRE305"])
def test_one_array_that_is_handed_out_again_and_again(code):
    one_line(code, WORLD)


@pytest.mark.parametrize(
    ("old", "new"), [("return seen", "return seen.copy()"), ("seen[:] =", "seen ="), ("self.view  #", "np.zeros(4)  #")]
)
def test_an_array_of_its_own_at_every_step(old, new):
    stays("PRE305", WORLD.replace(old, new))


def test_lanes_that_are_made_with_one_seed():
    one_line(
        "SEE302",
        """
        class Lane:
            def __init__(self, seed):
                self.seed = seed
        lanes = [Lane(7) for k in range(8)]  # here
        spare = Lane(9)
        for lane in lanes:
            x, r, over, late, _ = lane.step(0)
        loss = (net(x) - r).mean()
        loss.backward()
        """,
        script=stream(**{"class": "Lane"}),
    )


def test_the_log_prob_of_what_was_drawn():
    one_line(
        "ACT327",
        """
        def sample(x):
            dist = Normal(*net(x))
            raw = dist.rsample()
            score = dist.log_prob(raw).sum(-1)  # here
            move = raw.tanh()
            return move, score
        move, score = sample(x)
        loss = (alpha * score - critic(x, move)).mean()  # seen
        loss.backward()
        """,
    )


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
