from agentgym.core.checker import check_env
import tests.toy


def test_toy():
    r = check_env("tests/Guess-v0")
    assert all(c.passed for c in r), [(c.name, c.error) for c in r if not c.passed]
