"""A fitted estimator predicts by what it was fitted with, and by nothing of a fit that did not end.

A parameter can be set at any time, and a fit can be refused, fail or be interrupted at any place. Trees under another
domain, or asked for other bins than they were grown on, would be read beyond their ends. So a fit is done on a copy, of
which the estimator takes over all that was learnt in one step, at the end; what it had learnt before is gone from the
start. And predictions are made by the parameters of that fit, which are kept with what was learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted


class FittedAtOnce(BaseEstimator):
    """An estimator that is fitted when its fit has ended, and predicts by the parameters of that fit.

    The methods of subclasses that fit or predict are wrapped when the class is made, as scikit-learn wraps
    ``transform``: nothing is to be thought of in an estimator of one's own.

    Attributes
    ----------
    fitted_parameters_ : dict
        The parameters of the fit, by name: those that ``public_parameters`` returns.
    """

    fitted_parameters_: dict

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name, wrap in WRAPPED.items():
            method = getattr(cls, name, None)  # it may be that of a class beside this one
            if method is not None and not hasattr(method, "is_wrapped"):
                setattr(cls, name, wrap(method))

    def public_parameters(self) -> dict:
        """Return the constructor parameters but for the domain, the seed and the number of threads."""
        private = {"domain", "random_state", "n_jobs"}
        return {name: value for name, value in self.get_params(deep=False).items() if name not in private}

    def forget(self) -> None:
        """Drop in one step what a former fit has learnt; within a fit there is nothing of a former one."""
        if not self._is_copy_to_fit():
            self.__dict__ = {name: value for name, value in vars(self).items() if not _is_learnt(name)}

    def as_fitted(self):
        """Return a copy that has the parameters of the fit, if there was one, and shares what was learnt."""
        fitted = copy(self)  # first of all: another thread may fit this one anew meanwhile
        vars(fitted).update(vars(fitted).get("fitted_parameters_", {}))
        return fitted

    def _is_copy_to_fit(self) -> bool:
        return "_copy_to_fit" in vars(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_parameters_" in vars(self)


def _is_learnt(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _fit_at_once(fit: Callable) -> Callable:
    """Have a fit done on a copy, whose attributes become those of the estimator if it ends."""

    @wraps(fit)
    def fit_copy(self, *args, **kwargs):
        if self._is_copy_to_fit():  # by the fit of a subclass
            return fit(self, *args, **kwargs)
        self.forget()
        copied = copy(self)
        copied._copy_to_fit = True
        result = fit(copied, *args, **kwargs)
        not_learnt = {"_copy_to_fit", *self.get_params(deep=False)}
        learnt = {name: value for name, value in vars(copied).items() if name not in not_learnt}
        vars(self).update(learnt, fitted_parameters_=copied.public_parameters())
        return self if result is copied else result

    fit_copy.is_wrapped = True
    return fit_copy


def _predict_as_fitted(predict: Callable) -> Callable:
    """Have predictions made by the parameters of the fit, and refused with a ``NotFittedError`` where there is none."""

    @wraps(predict)
    def predict_as_fitted(self, *args, **kwargs):
        fitted = self.as_fitted()
        check_is_fitted(fitted)
        return predict(fitted, *args, **kwargs)

    predict_as_fitted.is_wrapped = True
    return predict_as_fitted


WRAPPED = dict.fromkeys(("fit", "fit_resample", "fit_summary"), _fit_at_once) | dict.fromkeys(
    ("predict", "predict_proba", "predict_log_proba", "decision_function"), _predict_as_fitted
)
"""What becomes of a method, by its name."""
