"""The portable exponential function is close to numpy's."""

import numpy as np

from genial_env.policies.portable_exp import LEAST, exp


def test_it_is_close_to_numpys() -> None:
    x = np.concatenate([np.linspace(LEAST, 0, 100_001), -np.logspace(-30, 0, 1001), [0]]).astype(np.float32)
    assert np.allclose(exp(x), np.exp(x.astype(np.float64)), rtol=1e-6, atol=0)
    assert exp(np.zeros(1, dtype=np.float32))[0] == 1


def test_it_is_constant_below_the_least_number() -> None:
    assert (
        exp(np.array([LEAST, LEAST - 1, -1e30, -np.inf], dtype=np.float32)) == exp(np.full(1, LEAST, dtype=np.float32))
    ).all()
