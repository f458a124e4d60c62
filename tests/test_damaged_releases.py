"""Releases are data from a stranger: each field of each kind, damaged in every way that its type allows.

A damaged file is refused with a word on what and where, or gives exactly the same answers. `OTHERS` lists the fields of
which another value is another model, which could have left as well: there, nothing but the checksum can tell.
"""

import json
import math
import random
import re
import tracemalloc
from functools import cache

import numpy as np
import pytest

from algorithms import ReleaseError, load_release
from algorithms.accounting.events import Sequential
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.cells import DomainError
from algorithms.encoding.features import Continuous
from algorithms.released.document import FORMAT, FORMAT_WITHOUT_CHECKSUM, MODULES, from_json
from algorithms.released.forest import BELOW, VOTES, ReleasedForest
from tests.made_up_releases import (
    CLASSES,
    LABELS,
    LEDGER,
    MADE_UP,
    MEAN_AND_SCALE,
    OTHERS,
    origin,
    probes,
    sealed,
    tree,
)

pytestmark = pytest.mark.long

# What is damaged, and how.

NUMBERS = (0, 1, 2, 3, -1, -7, 0.5, 1.9, 1e-9, 1e8, 10**8, 1e300, -1e300, 2**31, 2**62, 10**30, 10**400)
ANYWHERE = (None, True, False, "x", "", "1", "nan", [], {}, [[]], [None], math.nan, math.inf, -math.inf, *NUMBERS)
IN_A_ROW = (None, True, "x", [], math.nan, math.inf, -math.inf, 0, -1, 0.5, 1e300, 2**31, 10**400)
"""Of these, what is put in the place of the second and further cuts of a tree, and the like: the first has them all."""
WORDS = (
    *MODULES,
    "votes",
    "mean",
    "box",
    "unit",
    "signed_ball",
    "OneClass",
    "BinaryTree",
    "HiddenLayer",
    "SupportVectors",
)
WORDS += ("Unpaid", "Spent", "Parallel", "Bootstrapped", "one record replaced", "inf", "a", "b", "no", "yes", "\ud800")


def damages_of(value, is_another=False):
    """Return what may stand in the place of a value, by what was done to it."""
    if isinstance(value, dict):
        found = damages_of_object(value)
    elif isinstance(value, list):
        found = damages_of_list(value)
    else:
        others = IN_A_ROW if is_another else (*ANYWHERE, [value], {"x": value})
        found = {f"is {other!r:.30}": other for other in others}
        if isinstance(value, str):
            found |= {f"is {word!a}": word for word in WORDS}
            found |= {"longer": value + "x", "shorter": value[:-1], "loud": value.upper()}
        elif type(value) in (int, float):
            found |= damages_of_number(value)
    return {how: other for how, other in found.items() if repr(other) != repr(value)}


def damages_of_number(value):
    digits = repr(value)
    found = {"one more": value + 1, "one less": value - 1, "half more": value + 0.5, "negative": -value, "text": digits}
    found |= {"tenfold": value * 10, "a thousandth": value / 1000, "a float": float(value)}
    if value == int(value):
        found["whole"] = int(value)
    places = [i for i, digit in enumerate(digits) if digit.isdigit()]
    for i in places[:: max(len(places) // 3, 1)]:
        digit = (int(digits[i]) + 1) % 10
        found[f"digit {i} flipped"] = type(value)(f"{digits[:i]}{digit}{digits[i + 1 :]}")
    return found


def damages_of_list(value):
    found = {
        "null": None,
        "text": "x",
        "true": True,
        "number": 1.0,
        "empty": [],
        "nested": [value],
        "object": {"x": value},
    }
    if value:
        found |= {"one too few": value[:-1], "without the first": value[1:], "one too many": [*value, value[-1]]}
        found |= {"null at the end": [*value, None], "bare": value[0], "each nested": [[each] for each in value]}
        found |= {"turned around": value[::-1], "all like the first": [value[0]] * len(value)}
        found |= {"first two swapped": [*value[1::-1], *value[2:]], "last two swapped": [*value[:-2], *value[:-3:-1]]}
    if all(type(each) is int for each in value):  # numbers of nodes may lead in a circle
        for i in range(len(value)):
            found |= {f"{i} leads to {j}": [*value[:i], j, *value[i + 1 :]] for j in range(-2, len(value) + 1)}
    return found


def damages_of_object(value):
    found = {"null": None, "text": "x", "number": 1, "empty": {}, "list": [], "nested": {"x": value}}
    found |= {"unknown name": value | {"another": 1}, "another order": dict(reversed(value.items()))}
    for name in value:
        rest = {other: each for other, each in value.items() if other != name}
        found |= {f"without {name}": rest, f"{name} renamed": rest | {f"{name}_": value[name]}}
    for one, two in zip(value, list(value)[1:], strict=False):
        found[f"{one} and {two} swapped"] = value | {one: value[two], two: value[one]}
    return found


def says_so(name, path, old, new):
    return any(re.fullmatch(place, path) and is_other(old, new) for place, is_other in OTHERS[name].items())


# What comes of it.


def places(value, path=()):
    """Return the path to each value in a document, its own included."""
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path, *(place for name in names for place in places(value[name], (*path, name)))]


def find(document, path):
    for name in path:
        document = document[name]
    return document


def put(document, path, value):
    """Return a copy of a document with another value at a path."""
    if not path:
        return value
    changed = document.copy()
    changed[path[0]] = put(document[path[0]], path[1:], value)
    return changed


def show(path):
    return "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path).lstrip(".")


@cache
def text_of(name):
    return MADE_UP[name]().to_json()


def document_of(name):
    document = json.loads(text_of(name))
    return {part: document[part] for part in document if part not in ("format", "sha256")}


def is_tried(name, path):
    """What all kinds share is damaged in one of them, and the parts of a product in those that they are."""
    if name == "forest of votes" or not path:
        return True
    if name.startswith("product") and len(path) > 2:
        return name == "product" and path[1] == "forest" and (len(path) == 3 or path[3:5] == (0, "answer"))
    return path[0] == "contents" or (name == "marginals" and path[0] == "parameters")


def is_in_a_row(path):
    """Tell whether a value follows another of its kind in an array of a part, such as a tree."""
    return len(path) > 4 and isinstance(path[-1], int) and path[-1] > 0


def answers_of(release, rows):
    """Return all that is asked of a release; where rows are not of its domain, that is the answer."""
    account = release.origin.privacy
    told = {"claimed": account["claimed_epsilon"]} | account["accounted"]
    for ask in ("predict", "predict_proba"):
        if hasattr(release, ask):
            try:
                told[ask] = getattr(release, ask)(rows)
            except DomainError:
                told[ask] = "other rows"
    if hasattr(release, "draw"):
        told |= {"counts": release.class_counts} | dict(enumerate(release.shares))
        if release.class_counts.sum() * release.origin.parameters["sampling_ratio"] < 1000:
            told["rows"], told["labels"] = release.draw(1)
    return told | dict(getattr(release, "numbers", {}))


def is_same(answers, others):
    return answers.keys() == others.keys() and all(np.array_equal(answers[name], others[name]) for name in answers)


def is_sane(release, answers):
    """Tell whether answers are classes of the domain, finite numbers, shares."""
    shares, predicted, target = answers.get("predict_proba"), answers.get("predict"), release.origin.domain.target
    if isinstance(shares, np.ndarray) and not np.allclose(shares.sum(axis=1), 1):
        return False
    if not isinstance(predicted, np.ndarray):
        return True
    return np.isfinite(predicted).all() if isinstance(target, Continuous) else np.isin(predicted, target.labels()).all()


def load_or_refuse(text):
    """Return a release, or None where it is refused in a line that says where, by what was meant to refuse it."""
    try:
        return from_json(text)
    except ReleaseError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 1000
        assert re.match(r"this release is damaged: (the file|\w+)[ .:[]", str(error)), error
        assert not re.search(r"damaged: \w*(Error|Exception)\b", str(error)), error
        return None


@pytest.mark.parametrize("name", MADE_UP)
def test_a_damaged_field_is_refused_or_changes_no_answer(name):
    document, rows, used = document_of(name), probes(from_json(text_of(name))), set()
    told = answers_of(from_json(text_of(name)), rows)
    assert is_same(told, answers_of(from_json(sealed(document)), rows))
    n_refused = 0
    for path in filter(lambda path: is_tried(name, path), places(document)):
        old = find(document, path)
        for how, new in damages_of(old, is_in_a_row(path)).items():
            damaged = put(document, path, new)
            release = load_or_refuse(sealed(damaged)) if isinstance(damaged, dict) else None
            if release is None:
                n_refused += 1
                continue
            answers = answers_of(release, rows)
            assert is_sane(release, answers), f"{show(path)}: {how}"
            if not is_same(told, answers):
                assert says_so(name, show(path), old, new), f"{show(path)}: {how}"
                used |= {place for place in OTHERS[name] if re.fullmatch(place, show(path))}
    assert OTHERS[name].keys() - MEAN_AND_SCALE.keys() <= used and n_refused > 90


EDITS = {
    "bit": lambda text, i, j, draw: text[:i] + chr(ord(text[i]) ^ 1 << draw.randrange(7)) + text[i + 1 :],
    "digit": lambda text, i, j, draw: text[:i] + str(draw.randrange(10)) + text[i + 1 :],
    "cut out": lambda text, i, j, draw: text[:i] + text[j:],
    "twice": lambda text, i, j, draw: text[:j] + text[i:j] + text[j:],
    "elsewhere": lambda text, i, j, draw: text[:i] + text[j:] + text[i:j],
    "value": lambda text, i, j, draw: re.sub(r"-?\d[\d.]*", json.dumps(draw.choice(NUMBERS)), text[i:j]).join(
        [text[:i], text[j:]]
    ),
}


@pytest.mark.parametrize("n_edits", [120, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MADE_UP)
def test_whatever_a_stranger_writes_is_refused_or_a_model(name, n_edits):
    """One to three edits of the text, under a checksum that is right: what is read can be asked, and answers sanely."""
    draw, rows = random.Random(name), probes(from_json(text_of(name)))
    body = sealed(document_of(name)).partition('", "kind"')[2]
    for _ in range(n_edits):
        text = '{"kind"' + body
        for _ in range(draw.randint(1, 3)):
            i = draw.randrange(len(text))
            text = EDITS[draw.choice(list(EDITS))](text, i, min(i + draw.randint(1, 12), len(text)), draw)
        try:
            document = json.loads(text)
        except ValueError:
            continue
        if isinstance(document, dict) and (release := load_or_refuse(sealed(document))):
            assert is_sane(release, answers_of(release, rows)), text


def test_nodes_that_nothing_leads_to_may_stand_in_a_tree():
    """Pruning leaves them there; no node has two parents all the same."""
    pruned = tree([(BELOW, 0, 2.5, 3), (BELOW, 0, 1.5, 5), [1.0], [0.0], [2.0], [1.0], [0.0]])
    release = ReleasedForest(origin(CLASSES), LABELS, VOTES, None, (pruned,))
    assert from_json(release.to_json()).predict([[0, "u", 0], [3, "u", 0]]).tolist() == ["maybe", "yes"]
    pruned.child[1] = 4
    with pytest.raises(ReleaseError, match=r"trees\[0\]\.child\[1\] must not be a child of another node"):
        release.to_json()


# The checksum.


@pytest.mark.parametrize("name", ["regression", "numbers"])
def test_every_flipped_bit_of_a_file_is_found(name, tmp_path):
    file, good = tmp_path / "release.json", (text_of(name) + "\n").encode()
    file.write_bytes(good)
    load_release(file)
    for i, byte in enumerate(good):
        for bit in range(8):
            flipped = good[:i] + bytes([byte ^ 1 << bit]) + good[i + 1 :]
            if bit == 7 and i < 40:  # no ASCII, so that it is no text
                file.write_bytes(flipped)
                with pytest.raises(ReleaseError, match="not text"):
                    load_release(file)
            elif bit < 7:
                with pytest.raises(ReleaseError):
                    from_json(flipped.decode())


@pytest.mark.parametrize("name", MADE_UP)
def test_a_file_that_lacks_or_repeats_anything_is_refused(name):
    text = text_of(name)
    for i in range(0, len(text), 3):
        for damaged in (text[:i], text[:i] + text[i + 1 :], text[:i] + text[i] + text[i:], text[:i] + " " + text[i:]):
            if damaged != text:
                with pytest.raises(ReleaseError):
                    from_json(damaged)


def test_a_smaller_claim_is_found_by_the_checksum_and_by_the_ledger():
    text = text_of("numbers")
    claims_less = text.replace('"claimed_epsilon": 1.0', '"claimed_epsilon": 0.0001')
    with pytest.raises(ReleaseError, match="its checksum is of other contents; copy the file once more"):
        from_json(claims_less)
    with pytest.raises(ReleaseError, match=r"privacy\.claimed_epsilon must be 1 or more, which the ledger costs"):
        from_json(sealed(json.loads(claims_less)))


def test_a_file_in_another_layout_says_so():
    with pytest.raises(ReleaseError, match="does not stand as it was written"):
        from_json(json.dumps(json.loads(text_of("numbers")), indent=1))
    from_json(text_of("numbers") + "\r\n")


@pytest.mark.parametrize("name", MADE_UP)
def test_an_older_file_has_no_checksum_and_the_same_checks(name):
    document, rows = document_of(name), probes(from_json(text_of(name)))
    old = {"format": FORMAT_WITHOUT_CHECKSUM} | document
    release = from_json(json.dumps(old, indent=1))
    assert is_same(answers_of(release, rows), answers_of(from_json(text_of(name)), rows))
    assert release.to_json() == text_of(name) and FORMAT in release.to_json()
    for damage in ({"sha256": "0" * 64}, {"kind": "x"}, {"privacy": {}}, {"contents": None}):
        with pytest.raises(ReleaseError, match="damaged"):
            from_json(json.dumps(old | damage))


# Time and memory, and what no single damage makes.


@pytest.mark.parametrize("name", ["forest of votes", "naive Bayes", "marginals", "regression", "support vectors"])
def test_a_small_file_takes_little_memory(name):
    document = document_of(name)
    tracemalloc.start()
    try:
        for path in places(document):
            if type(find(document, path)) is int:
                for large in (2**16, 10**8, 2**31 - 1, 2**62):
                    load_or_refuse(sealed(put(document, path, large)))
        assert tracemalloc.get_traced_memory()[1] < 16e6
    finally:
        tracemalloc.stop()


def nested(value, times, wrap):
    for _ in range(times):
        value = wrap(value)
    return value


@pytest.mark.parametrize("depth", [9, 300])
def test_what_is_deep_is_refused(depth):
    document = document_of("numbers")
    deep = nested(1.0, depth, lambda value: [value])
    event = document["privacy"]["ledger"]
    ledger = nested(event, depth, lambda part: {"event": "Sequential", "name": "x", "parts": [part], "times": 1})
    damages = {("parameters", "epsilon"): deep, ("contents", "mean"): deep, ("privacy", "ledger"): ledger}
    damages[("domain", "features", "a")] = deep
    for path, value in damages.items():
        assert load_or_refuse(sealed(put(document, path, value))) is None, show(path)


def test_a_name_that_stands_twice_is_refused():
    text = json.dumps({"format": FORMAT_WITHOUT_CHECKSUM} | document_of("numbers"))
    from_json(text)
    with pytest.raises(ReleaseError, match="a name stands twice"):
        from_json(text.replace('"kind"', '"kind": "forest", "kind"'))


def test_what_could_not_be_read_does_not_leave():
    release = MADE_UP["numbers"]()
    for number in (math.nan, 1e150):
        release.numbers["mean"] = np.array(number)
        with pytest.raises(ReleaseError, match=r"cannot hold this model, since nobody could read it: .*contents\.mean"):
            release.to_json()
    release = MADE_UP["numbers"]()
    release.origin.privacy.update(Privacy(0.5, Sequential("twice", (LEDGER, LEDGER))).as_dict())
    with pytest.raises(ReleaseError, match=r"cannot hold this model, since nobody could read it: .*privacy\."):
        release.to_json()
    release.origin.parameters["name"] = "half of a character: \ud800"
    with pytest.raises(ReleaseError, match="no Unicode"):
        release.to_json()
