"""Calls of builders, checked by their annotations: a mistake is told where it is made, and not by a cycle later on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, isfunction, signature
from itertools import chain, repeat
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gangsched_framework.errors import GangschedError, did_you_mean, on_one_line

_Builder = TypeVar("_Builder")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_LONGEST = 80
_ALLOWED: dict[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    Mapping: "a mapping of texts to texts",
}


def checked(builder: type[_Builder]) -> type[_Builder]:
    """A class whose public methods refuse arguments that are not as annotated, see ``checked_call``."""
    for name, method in list(vars(builder).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(builder, name, checked_call(method))
    return builder


def checked_call(function: _Function) -> _Function:
    """A function that raises GangschedError for an unknown keyword and for an argument that is not as annotated.

    An annotation is made of classes, unions, ``Literal`` (all words there are) and ``Mapping[str, str]``; True and
    False are no numbers.
    """
    kinds = {name: each.kind for name, each in signature(function).parameters.items()}
    positional = [name for name, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD]
    more = next((name for name, kind in kinds.items() if kind is Parameter.VAR_POSITIONAL), "")
    others = next((name for name, kind in kinds.items() if kind is Parameter.VAR_KEYWORD), "")
    keys = [name for name in kinds if name not in ("self", more, others)]
    hints: dict[str, Any] = {}

    def arguments(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """(name, annotation, value) of each argument."""
        positions = chain(positional, repeat(more)) if more else positional
        for name, argument in zip(positions, args, strict=False):
            yield name, hints.get(name, object), argument
        for name, argument in keywords.items():
            yield name, hints.get(name if name in keys else others, object), argument

    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        if not hints:  # annotations may name what stands further below in the module
            hints.update(get_type_hints(function))
        for name in keywords:
            if name not in keys and not others:
                raise _mistake(function, name, "an unknown keyword", ", ".join(keys), did_you_mean(name, keys))
        for name, hint, argument in arguments(args, keywords):
            if not _fits(argument, hint):
                raise _mistake(function, name, _shown(argument), _allowed(hint), _meant(argument, hint))
        return function(*args, **keywords)

    return cast("_Function", call)


def _mistake(function: Callable[..., Any], name: str, what: str, allowed: str, meant: str) -> GangschedError:
    return GangschedError(f"{function.__name__}: {name}: found {what}, allowed {allowed}{meant}")


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: object, hint: Any) -> bool:
    for part in _parts(hint):
        origin = get_origin(part)
        if origin is Literal:
            fits = value in get_args(part)
        elif origin is Mapping:
            fits = isinstance(value, Mapping) and all(isinstance(text, str) for pair in value.items() for text in pair)
        else:
            fits = isinstance(value, part) and (part in (bool, object) or not isinstance(value, bool))
        if fits:
            return True
    return False


def _allowed(hint: Any) -> str:
    texts: list[str] = []
    for part in _parts(hint):
        if get_origin(part) is Literal:
            texts += map(repr, get_args(part))
        else:
            kind = get_origin(part) or part
            texts.append(_ALLOWED.get(kind) or f"a {kind.__name__}")
    return ", ".join(texts)


def _meant(value: object, hint: Any) -> str:
    if isinstance(value, str):
        words = (word for part in _parts(hint) if get_origin(part) is Literal for word in get_args(part))
        return did_you_mean(value, words)
    return "; did you forget .obj()?" if hasattr(value, "obj") else ""


def _shown(value: object) -> str:
    known = isinstance(value, str | int | float | Mapping | None)
    return on_one_line(repr(value)[:_LONGEST]) if known else f"a {type(value).__name__}"
