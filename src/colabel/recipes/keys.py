"""Mappings as structs, strictly: every unknown key and wrong value is named, all at once."""

import types
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from colabel.errors import InputError, Problem, did_you_mean

Kind = TypeVar("Kind", bound=msgspec.Struct)


def as_struct(data: Mapping[str, Any], kind: type[Kind], where: str = "") -> Kind:
    """The struct, or an `InputError` with everything that is wrong."""
    if found := problems_of(data, kind, where):
        raise InputError(found)
    return msgspec.convert(data, kind)


def problems_of(
    data: Mapping[str, Any],
    kind: type[msgspec.Struct],
    where: str = "",
    also: Sequence[str] = (),
    but: Sequence[str] = (),
    *,
    partly: bool = False,
) -> list[Problem]:
    """What is wrong with a mapping that shall become a struct.

    `also`: keys that are known too; `but`: fields that are not. `partly`: nothing is required.
    """
    fields = {f.name: f for f in msgspec.structs.fields(kind) if f.name not in but}
    found = unknown(data, (*fields, *also), where)
    for name, field in fields.items():
        if name not in data:
            if field.required and not partly:
                found.append(Problem(f"{where}{name} is missing", "Give it a value."))
            continue
        inner = struct_of(field.type)
        if inner is not None and isinstance(data[name], Mapping):
            found += problems_of(data[name], inner, f"{where}{name}.", partly=partly)
        elif (problem := wrong(data[name], field.type, f"{where}{name}")) is not None:
            found.append(problem)
    return found


def unknown(data: Mapping[str, Any], known: Sequence[str], where: str = "") -> list[Problem]:
    """A problem for every key that is none of these."""
    return [
        Problem(f"there is no key {where}{name}", did_you_mean(name, known))
        for name in data
        if name not in known
    ]


def wrong(value: Any, kind: Any, where: str) -> Problem | None:
    """What is wrong with one value."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        fix = str(error).partition(" - at ")[0]
        return Problem(f"{where} is {value!r}", fix if fix.endswith(".") else f"{fix}.")
    return None


def struct_of(kind: Any) -> type[msgspec.Struct] | None:
    """The struct in a type, if there is one."""
    options = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    for option in options:
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return option
    return None


def dotted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Nested keys as `a.b`, without those that are not given."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{inner}": held for inner, held in dotted(value).items()}
        elif value is not None:
            flat[key] = value
    return flat


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The same back again."""
    data: dict[str, Any] = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        held = data
        for part in path:
            held = held.setdefault(part, {})
        held[last] = value
    return data
