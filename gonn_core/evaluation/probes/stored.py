"""Answers to probes: scores, and files in a trial's directory: probes/<id>.json (scores by group) and probes/<id>.npz
(all cases).

A case is *found* when the likeliest right move has a greater probability than everything it is set against (`Case` says
what), half found on a tie. Its *share* is the probability of all right moves in that of right and wrong ones together.
A group's score is the mean share, rescaled so that equal probabilities for all moves give 0 and nothing but right moves
1: (share - chance) / (1 - chance), chance being the mean of the cases' own; worse than chance is below 0. Shares, not
found cases, are scored: an untrained net finds all or none of a family's like drawings by tiny differences, but its
shares are those of chance.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.probes.suite import Case, Suite
from gonn_core.files.json_files import read_json, tell
from gonn_core.files.seals import digest_of

FORMAT = 1
METHOD = 1
"""Version of how nets are asked and scored; part of the id of every stored file."""
_HEAD = "ladder_head_maps"
"""The array that only nets with such a head have."""
_AGAIN = "`gonn probe` evaluates them again"
_SUMMARY = {"format", "id", "method", "weights", "suite", "samples", "published", "groups"}
_ARRAYS = ("right", "wrong", "share", "chance", "group", "distance", "cluster", "policies")


class CaseAnswers(NamedTuple):
    """Of each case of a suite, (N,) float32: the greatest probability among the right moves, and among what they are
    set against; and the share."""

    right: np.ndarray
    wrong: np.ndarray
    share: np.ndarray


def solved(right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
    """(N,) float64: 1 found, 0.5 tie, 0 not found."""
    return (right > wrong) + 0.5 * (right == wrong)


def rescaled(values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(N,) what each case adds to a group's score, whose mean the score is: (share - its own chance) / (1 - mean
    chance)."""
    return (values - chances) / (1 - chances.mean())


def group_score(cases: Sequence[Case], given: CaseAnswers) -> dict[str, float]:
    """The score of a group as its summary has it: number of cases with a right move, share found, score, and mean
    probabilities of the likeliest right and wrong moves; without such cases their number alone."""
    scored = np.array([bool(case.right) for case in cases])
    if not scored.any():
        return {"cases": 0}
    chances = np.array([case.chance for case in cases])[scored]
    right, wrong, share = (values[scored] for values in given)
    return {
        "cases": int(scored.sum()),
        "found": float(solved(right, wrong).mean()),
        "score": float(rescaled(share, chances).mean()),
        "right": float(right.mean()),
        "wrong": float(wrong.mean()),
    }


@dataclass(frozen=True)
class ProbeAnswers:
    """One stored set of answers. `summary` is its JSON file: id, method, weights and suite (digests), samples, groups
    (the list of groups, each with cases, found, score, right, wrong), published (names of the documents' positions)."""

    summary: dict
    path: Path = field(repr=False)
    """The .npz file."""

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """By case: right, wrong, share, chance, group (an index into the summary's groups), distance (-1: none),
        cluster; policies (P, 361) of `published`, and of a net with a ladder head its probabilities there."""
        try:
            data = self.path.read_bytes()
            if self.summary.get("arrays", digest := digest_of(data)) != digest:
                raise Damaged(self.path, f"damaged: not the arrays that were written; {_AGAIN}")
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                return {name: file[name] for name in (*_ARRAYS, *({_HEAD} & set(file.files)))}
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(self.path, f"not readable answers to probes ({error}); {_AGAIN}") from None

    def solved(self) -> np.ndarray:
        """(N,) 1 found, 0.5 tie, 0 not."""
        return solved(self.arrays["right"], self.arrays["wrong"])

    def policy(self, case: str) -> np.ndarray:
        """(361,) move probabilities in one of the documents' positions."""
        return self.arrays["policies"][self.summary["published"].index(case)]

    def laddered(self, case: str) -> np.ndarray | None:
        """(361,) probabilities of the ladder head in one of the documents' positions; None for a net without one."""
        return self.arrays[_HEAD][self.summary["published"].index(case)] if _HEAD in self.arrays else None


def answers_id(weights: str, suite: str) -> str:
    """16 hex digits over all that decides the answers: digests of weights and suite, and the method."""
    return hashlib.sha256(f"{weights}\n{suite}\nprobes {METHOD}".encode()).hexdigest()[:16]


def pack(suite: Suite, given: CaseAnswers, policies: np.ndarray, laddered: np.ndarray | None = None) -> bytes:
    """Content of the .npz file; policies (P, 361) of the documents' positions, which are the suite's first cases;
    laddered: the same of a ladder head."""
    buffer = io.BytesIO()
    of_head: dict[str, Any] = {} if laddered is None else {_HEAD: laddered}
    np.savez(
        buffer,
        right=given.right,
        wrong=given.wrong,
        share=given.share,
        chance=np.array([case.chance if case.right else np.nan for case in suite.cases]),
        group=np.array([suite.groups.index(case.group) for case in suite.cases], np.uint8),
        distance=np.array([-1 if case.distance is None else case.distance for case in suite.cases], np.int8),
        cluster=np.unique([case.cluster or case.name for case in suite.cases], return_inverse=True)[1].astype(np.int32),
        policies=policies.astype(np.float32),
        **of_head,
    )
    return buffer.getvalue()


def summarise(
    suite: Suite, given: CaseAnswers, weights: str, samples: int, published: list[str], arrays: bytes | None = None
) -> dict:
    """The JSON file of a set of answers. arrays: content of the .npz file, whose digest it holds."""
    groups = []
    for name in suite.groups:
        inside = np.array([case.group == name for case in suite.cases])
        cases = [case for case in suite.cases if case.group == name]
        groups.append({"name": name, **group_score(cases, CaseAnswers(*(values[inside] for values in given)))})
    return {
        "format": FORMAT,
        "id": answers_id(weights, suite.digest),
        "method": METHOD,
        "weights": weights,
        "suite": suite.digest,
        "samples": samples,
        "published": published,
        "groups": groups,
        **({} if arrays is None else {"arrays": digest_of(arrays)}),
    }


def load_answers(trial: Path | str, weights: str) -> list[ProbeAnswers]:
    """The answers in a trial's directory that weights of this digest gave by this method, by id. What is damaged is
    reported and left out, as if the suite had not been asked. Raises InputError for a file of another version."""
    loaded = []
    for path in sorted((Path(trial) / "probes").glob("*.json")):
        try:
            summary = read_json(path)
            if not isinstance(summary, dict) or not summary.keys() >= _SUMMARY:
                raise Damaged(path, "damaged: no answers to probes")
            if summary["format"] != FORMAT:
                raise InputError(path, f"not answers to probes of format {FORMAT}; remove it to evaluate them again")
            if summary["weights"] == weights and summary["method"] == METHOD:
                answers = ProbeAnswers(summary, path.with_suffix(".npz"))
                _ = answers.arrays
                loaded.append(answers)
        except Damaged as damage:
            tell(damage, "the answers are left out; `gonn probe` evaluates the probes again")
    return loaded
