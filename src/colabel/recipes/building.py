"""From a recipe and a seed to what runs: sites, plan, judges."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.methods import METHODS, method
from colabel.federation.plan import LabellingPlan
from colabel.federation.presets import paper_graph
from colabel.federation.training_plan import PrivacyPlan, Stage, TrainingPlan
from colabel.learning.judging import Judge
from colabel.learning.models import MODELS, ModelPlan
from colabel.learning.plan import ServerPlan
from colabel.learning.terms import AnyTerm
from colabel.recipes.dealing import Dealt, Part, deal
from colabel.recipes.format import Recipe
from colabel.recipes.keys import problems_of


@dataclass(frozen=True)
class Ready:
    """Everything that `jobs.train.train_sites` wants, and the judge of the test points."""

    recipe: Recipe
    seed: int
    dealt: Dealt
    plan: TrainingPlan
    validation: Judge | None
    test: Judge


def ready(recipe: Recipe, seed: int, data_dir: str | Path | None = None) -> Ready:
    """Draw, deal and plan. Wrong names and settings come before any data are read."""
    if found := problems_of_names(recipe):
        raise InputError(found)
    dealt = deal(recipe, seed, METHODS[recipe.method.name].data, data_dir)
    plan = make_plan(recipe, dealt.shape, len(dealt.sites.classes), seed, dealt.mean, dealt.std)

    def judge(part: Part) -> Judge:
        return Judge(plan.model, part.points, part.labels)

    validation = None if dealt.validation is None else judge(dealt.validation)
    return Ready(recipe, seed, dealt, plan, validation, judge(dealt.test))


def problems_of_names(recipe: Recipe) -> list[Problem]:
    """Methods, models and terms that there are not, and keys that a term does not know."""
    found = [
        Problem(f"{what} is {name!r}", did_you_mean(name, tuple(known)))
        for what, name, known in (
            ("method.name", recipe.method.name, METHODS),
            ("model.name", recipe.model.name, MODELS),
        )
        if name not in known
    ]
    kinds = _terms()
    for tag, changes in recipe.terms.items():
        if tag not in kinds:
            found.append(Problem(f"there is no term {tag!r}", did_you_mean(tag, tuple(kinds))))
            continue
        found += problems_of(changes, kinds[tag], f"terms.{tag}.", partly=True)
    if recipe.method.name in METHODS:
        used = {_tag(term) for term in METHODS[recipe.method.name].terms}
        found += [
            Problem(f"terms.{tag} changes nothing in {recipe.method.name}", "Leave it out.")
            for tag in recipe.terms
            if tag in kinds and tag not in used
        ]
    return found


def make_plan(
    recipe: Recipe,
    shape: tuple[int, ...],
    n_classes: int,
    seed: int,
    mean: tuple[float, ...] = (0.0,),
    std: tuple[float, ...] = (1.0,),
) -> TrainingPlan:
    """The plan of the method, with what the recipe changes in it; or every problem with it."""
    settings = recipe.training
    model = ModelPlan(
        name=recipe.model.name,
        shape=shape,
        n_classes=n_classes,
        norm=recipe.model.norm,
        mean=recipe.model.mean or mean,
        std=recipe.model.std or std,
    )
    warm_up = (Stage(rounds=settings.warm_up),) if settings.warm_up else ()
    base = TrainingPlan(
        model=model,
        stages=(*warm_up, Stage(rounds=settings.rounds)),
        local=recipe.local,
        graph=_graph(recipe, n_classes),
        sites_per_round=settings.sites_per_round,
        averaging=settings.averaging,
        groups=settings.groups,
        buffers=settings.buffers,
        protection=settings.protection,
        server=None if recipe.server is None else ServerPlan(local=recipe.server),
        judge_every=settings.judge_every,
        seed=seed,
    )
    plan = method(recipe.method.name, base, preset=recipe.method.preset)
    if plan.server is None or METHODS[recipe.method.name].data != "server":
        plan = replace(plan, server=None)
    stages = (*plan.stages[:-1], replace(plan.stages[-1], terms=_changed(recipe, plan)))
    return replace(
        plan, graph=_graph(recipe, n_classes), stages=stages, privacy=_privacy(recipe)
    ).validate()


def _graph(recipe: Recipe, n_classes: int) -> LabellingPlan:
    """The preset's graph, or the library's own, with what the recipe says of it."""
    given = recipe.run.hyperplanes
    seed = None if given == "secret" else _public(given)
    preset = recipe.method.preset
    if preset is None:
        plain = LabellingPlan(n_classes=n_classes, seed=seed, hamming="clear")
    else:
        plain = paper_graph(n_classes, preset=preset, seed=seed, hamming="clear")
    kinds = {field.name: field.type for field in msgspec.structs.fields(LabellingPlan)}
    changes = {key: msgspec.convert(value, kinds[key]) for key, value in recipe.graph.items()}
    return replace(plain, **changes)


def _public(number: int) -> bytes:
    """A seed of hyperplanes that everybody may know, so that runs repeat."""
    return hashlib.sha256(f"colabel/recipe/hyperplanes/{number}".encode()).digest()


def _privacy(recipe: Recipe) -> PrivacyPlan | None:
    own = recipe.privacy
    return None if own is None else PrivacyPlan(clip=own.clip, noise=own.noise, delta=own.delta)


def _changed(recipe: Recipe, plan: TrainingPlan) -> tuple[AnyTerm, ...]:
    """The terms of the last stage, with what the recipe says of each."""

    def one(term: AnyTerm) -> AnyTerm:
        changes = recipe.terms.get(_tag(term), {})
        kinds = {field.name: field.type for field in msgspec.structs.fields(type(term))}
        return replace(term, **{k: msgspec.convert(v, kinds[k]) for k, v in changes.items()})

    return tuple(one(term) for term in plan.stages[-1].terms)


def _terms() -> Mapping[str, type[msgspec.Struct]]:
    kinds: tuple[Any, ...] = AnyTerm.__args__
    return {str(kind.__struct_config__.tag): kind for kind in kinds}


def _tag(term: AnyTerm) -> str:
    return str(term.__struct_config__.tag)
