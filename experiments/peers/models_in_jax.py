"""What is fitted in ``.venv-peers-jax``: a network by DP-SGD, with jax-privacy, and MST, with private-pgm.

Like `worker`, which loads this file there, it imports nothing of this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np

N_ITERATIONS = 1000
"""Of the fit of a graphical model to what MST measured: the default of private-pgm."""


@dataclass
class Network:
    """A network with one hidden layer, fitted by DP-SGD: ``fit`` draws batches, clips, adds noise, and takes steps.

    The plan of jax-privacy has the parts that privacy rests on: which rows are in a batch, clipped gradients, noise,
    and the noise multiplier. Nothing else reads the rows, and nothing at all how many there are: Adam's steps do not
    depend on the unit of the gradients, so that they need not be divided by the size of a batch.
    """

    epsilon: float
    delta: float
    seed: int
    n_classes: int | None
    n_hidden: int
    n_steps: int
    sampling: float
    learning_rate: float
    clip: float
    weights: dict = field(default_factory=dict)

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Fit to rows within public bounds, and to classes by their position or a target in [0, 1]."""
        import jax
        import optax

        plan = self._plan()
        optimizer = optax.adam(self.learning_rate)
        gradient = plan.clipped_grad(self._measure_loss, batch_argnums=(1, 2))

        @jax.jit
        def step(weights, state, noise_state, X, y, is_padding):
            total = gradient(weights, X, y, is_padding_example=is_padding)
            noisy, noise_state = plan.noise_addition_transform.update(total, noise_state)
            update, state = optimizer.update(noisy, state, weights)
            return optax.apply_updates(weights, update), state, noise_state

        rng = np.random.default_rng(self.seed)
        weights = self._first_weights(rng, X.shape[1])
        state, noise_state = optimizer.init(weights), plan.noise_addition_transform.init(weights)
        rows, target = X.astype(np.float32), y.astype(np.float32 if self.n_classes is None else np.int32)
        for batch in plan.batch_selection_strategy.batch_iterator(len(X), rng=rng):
            kept = _pad(batch, len(X), self.sampling)
            weights, state, noise_state = step(weights, state, noise_state, rows[kept], target[kept], kept < 0)
        self.weights = {name: np.asarray(values) for name, values in weights.items()}

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the position of the class, or the target."""
        hidden = np.tanh(X @ self.weights["first"] + self.weights["first_bias"])
        out = hidden @ self.weights["second"] + self.weights["second_bias"]
        return out[:, 0] if self.n_classes is None else out.argmax(axis=1)

    def _plan(self):
        import dp_accounting
        from jax_privacy.batch_selection import PartitionType
        from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

        return BandMFExecutionPlanConfig(
            iterations=self.n_steps,
            strategy=np.ones(1),  # noise of each step by itself: DP-SGD
            epsilon=None,
            delta=None,
            noise_multiplier=calibrate_noise(self.epsilon, self.delta, self.sampling, self.n_steps),
            l2_clip_norm=self.clip,
            sampling_prob=self.sampling,
            partition_type=PartitionType.INDEPENDENT,
            accountant=dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
            noise_seed=self.seed,
        ).plan

    def _first_weights(self, rng: np.random.Generator, n_columns: int) -> dict:
        n_out = self.n_classes or 1
        first = rng.normal(0, 1 / np.sqrt(n_columns), (n_columns, self.n_hidden))
        weights = {
            "first": first,
            "first_bias": np.zeros(self.n_hidden),
            "second": np.zeros((self.n_hidden, n_out)),
            "second_bias": np.zeros(n_out),
        }
        return {name: values.astype(np.float32) for name, values in weights.items()}

    def _measure_loss(self, weights, X, y):
        """Return the loss of one row, which has the first axis to itself."""
        import jax.numpy as jnp
        import optax

        out = jnp.tanh(X @ weights["first"] + weights["first_bias"]) @ weights["second"] + weights["second_bias"]
        if self.n_classes is None:
            return jnp.mean((out[:, 0] - y) ** 2)
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()


def _pad(batch: np.ndarray, n_rows: int, sampling: float) -> np.ndarray:
    """Fill a batch with -1 to one of few sizes: every size is compiled anew."""
    quarter = max(int(n_rows * sampling / 4), 16)
    padded = np.full(max(-(-len(batch) // quarter), 1) * quarter, -1)
    padded[: len(batch)] = batch
    return padded


@cache
def calibrate_noise(epsilon: float, delta: float, sampling: float, n_steps: int) -> float:
    """Return the least noise multiplier with which Poisson-sampled steps are (epsilon, delta)-private.

    For one record added or removed; by the privacy loss distributions of Google's ``dp_accounting``.
    """
    import dp_accounting

    def describe(noise: float):
        step = dp_accounting.PoissonSampledDpEvent(sampling, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(step, n_steps)

    return dp_accounting.calibrate_dp_mechanism(
        lambda: dp_accounting.pld.PLDAccountant(
            dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=1e-3
        ),
        describe,
        epsilon,
        delta,
        dp_accounting.LowerEndpointAndGuess(0.2, 4.0),
        tol=1e-3,
    )


def make_dp_sgd(X: np.ndarray, y: np.ndarray, **parameters) -> tuple:
    """Return a network and what its ``fit`` is given."""
    return Network(**parameters), {"X": X, "y": y}


@dataclass
class TrainedOnSyntheticRows:
    """scikit-learn's tree or boosted trees, trained on synthetic rows, as many as MST finds that there are.

    Rows are cells, by their position: bins of numbers, and categories. The last cell is the class, or a bin of the
    target, whose middle is learnt.
    """

    learner: str
    sizes: Sequence[int]
    is_nominal: Sequence[bool]
    epsilon: float
    delta: float
    seed: int
    is_class: bool
    model: object = None

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Draw synthetic rows, and train on them."""
        rows = draw_like_mst(np.column_stack([X, y]), self.sizes, self.epsilon, self.delta, self.seed)
        target = rows[:, -1] if self.is_class else (rows[:, -1] + 0.5) / self.sizes[-1]
        self.model = self._make_learner().fit(rows[:, :-1], target)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the position of the class, or the target in [0, 1]."""
        return self.model.predict(X)

    def _make_learner(self):
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        if self.learner == "tree":
            cls = DecisionTreeClassifier if self.is_class else DecisionTreeRegressor
            return cls(max_depth=5, random_state=self.seed)
        cls = HistGradientBoostingClassifier if self.is_class else HistGradientBoostingRegressor
        return cls(categorical_features=list(self.is_nominal), random_state=self.seed)


def draw_like_mst(rows: np.ndarray, sizes: Sequence[int], epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Return synthetic rows of MST: all single columns and a tree of pairs are measured, a graphical model fits them.

    A third of the zero-concentrated budget each goes to the columns, to the choice of the pairs, and to the pairs, for
    one record added or removed. Nothing else reads the rows, not even how many there are.
    """
    from mbi import Dataset, Domain, estimation

    rng, columns = np.random.default_rng(seed), range(len(sizes))
    np.random.seed(seed)  # noqa: NPY002 - private-pgm draws its rows by numpy's global generator
    rho = calibrate_rho(epsilon, delta)
    data = Dataset(dict(zip(columns, rows.T.astype(np.int64), strict=True)), Domain(list(columns), list(sizes)))
    singles = _measure(data, [(column,) for column in columns], rho / 3, rng)
    total = estimation.minimum_variance_unbiased_total(singles)  # private-pgm knows none once values are merged
    merged = {one.clique[0]: _merge_rare(one.noisy_measurement, one.stddev) for one in singles}
    singles = [one.compress(merged, data.domain) for one in singles]
    data = data.compress(merged)
    fitted = estimation.MirrorDescent().estimate(data.domain, singles, total, iters=N_ITERATIONS)
    pairs = _measure(data, _choose_pairs(data, fitted, rho / 3, rng), rho / 3, rng)
    fitted = estimation.MirrorDescent().estimate(data.domain, singles + pairs, total, iters=N_ITERATIONS)
    drawn = fitted.synthetic_data().decompress(merged)
    return np.column_stack([drawn.data[column] for column in columns])


def _measure(data, cliques: list, rho: float, rng: np.random.Generator) -> list:
    """Return the noisy counts of marginals, which share a zero-concentrated budget: a record is in one cell of each."""
    from mbi import LinearMeasurement

    sigma = np.sqrt(len(cliques) / (2 * rho))
    counts = [np.asarray(data.project(clique).datavector(), dtype=np.float64) for clique in cliques]
    return [LinearMeasurement(x + rng.normal(0, sigma, x.size), c, sigma) for x, c in zip(counts, cliques, strict=True)]


def _merge_rare(counts: np.ndarray, sigma: float) -> np.ndarray:
    """Return for each value its new position: those whose noisy count is below three sigma become one, the last.

    Examples
    --------
    >>> _merge_rare(np.array([90.0, -2.0, 40.0, 5.0]), 10.0)
    array([0, 2, 1, 2])
    """
    kept = counts >= 3 * sigma
    return np.where(kept, np.cumsum(kept) - 1, kept.sum()) if kept.any() else np.arange(len(counts))


def _choose_pairs(data, fitted, rho: float, rng: np.random.Generator) -> list:
    """Return a tree of pairs of columns, each drawn by the exponential mechanism for how far it is from independent.

    The score of a pair is the sum of the differences from what the single columns say, which a record moves by 1.
    """
    scores = {}
    for pair in combinations(data.domain, 2):
        first, second = (np.asarray(fitted.project((column,)).datavector()) for column in pair)
        expected = np.outer(first, second).ravel() / first.sum()
        scores[pair] = np.abs(np.asarray(data.project(pair).datavector()) - expected).sum()
    n_pairs, chosen, part_of = len(data.domain) - 1, [], {column: column for column in data.domain}
    epsilon = np.sqrt(8 * rho / n_pairs)
    for _ in range(n_pairs):
        joining = [pair for pair in scores if part_of[pair[0]] != part_of[pair[1]]]
        weights = np.array([epsilon / 2 * scores[pair] for pair in joining])
        first, second = joining[np.argmax(weights + rng.gumbel(size=len(joining)))]
        chosen.append((first, second))
        part_of = {column: part_of[first] if part == part_of[second] else part for column, part in part_of.items()}
    return chosen


@cache
def calibrate_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho for which zero-concentrated privacy with it is (epsilon, delta)-privacy."""
    import dp_accounting

    sigma = dp_accounting.calibrate_dp_mechanism(
        lambda: dp_accounting.rdp.RdpAccountant(
            neighboring_relation=dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        ),
        lambda sigma: dp_accounting.ZCDpEvent(1 / (2 * sigma**2)),
        epsilon,
        delta,
        dp_accounting.LowerEndpointAndGuess(0.01, 4.0),
        tol=1e-4,
    )
    return 1 / (2 * sigma**2)


def make_mst(X: np.ndarray, y: np.ndarray, **parameters) -> tuple:
    """Return a learner on synthetic rows and what its ``fit`` is given: cells by their position, the target's too."""
    import mbi  # noqa: F401 - it warns of settings of jax, which are no leak

    return TrainedOnSyntheticRows(**parameters), {"X": X, "y": y}


#: What can be asked for, by name: a function that returns an estimator and the arguments of its ``fit``.
MODELS = {"dp_sgd": make_dp_sgd, "mst": make_mst}
