"""Calls of builders, checked by their annotations: a mistake is told where it is made, and not by a cycle later on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, isfunction, signature
from itertools import chain, repeat
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from attrs import frozen

from gangsched_framework.errors import GangschedError, did_you_mean, on_one_line

_Builder = TypeVar("_Builder")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_LONGEST = 80
_TEXTS: dict[object, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
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
    kinds_of: dict[str, _Kind] = {}

    def check(name: str, kind: _Kind, argument: object) -> None:
        if argument.__class__ not in kind.classes and not kind.takes(argument):
            raise _mistake(function, name, _shown(argument), kind.text(), kind.meant(argument))

    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        if not kinds_of:  # annotations may name what stands further below in the module
            kinds_of.update({name: _Kind.of(hint) for name, hint in get_type_hints(function).items()})
        for name, argument in zip(chain(positional, repeat(more)) if more else positional, args, strict=False):
            if name != "self":
                check(name, kinds_of[name], argument)
        for name, argument in keywords.items():
            if name not in keys and not others:
                raise _mistake(function, name, "an unknown keyword", ", ".join(keys), did_you_mean(name, keys))
            check(name, kinds_of[name if name in keys else others], argument)
        return function(*args, **keywords)

    return cast("_Function", call)


@frozen
class _Kind:
    """What an annotation allows: instances of ``classes``, one of ``words``, and mappings of texts if ``labels``."""

    classes: tuple[type, ...]
    words: tuple[str, ...]
    labels: bool

    @classmethod
    def of(cls, hint: Any) -> _Kind:
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        return cls(
            tuple(part for part in parts if isinstance(part, type) and get_origin(part) is None),
            tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part)),
            any(get_origin(part) is Mapping for part in parts),
        )

    def takes(self, value: object) -> bool:
        if isinstance(value, Mapping):
            return self.labels and all(isinstance(text, str) for pair in value.items() for text in pair)
        return value in self.words or (isinstance(value, self.classes) and not isinstance(value, bool))

    def text(self) -> str:
        labels = ["a mapping of texts to texts"] if self.labels else []
        classes = [_TEXTS.get(each) or f"a {each.__name__}" for each in self.classes]
        return ", ".join((*map(repr, self.words), *labels, *classes))

    def meant(self, value: object) -> str:
        if isinstance(value, str):
            return did_you_mean(value, self.words)
        return "; did you forget .obj()?" if hasattr(value, "obj") else ""


def _mistake(function: Callable[..., Any], name: str, what: str, allowed: str, meant: str) -> GangschedError:
    return GangschedError(f"{function.__name__}: {name}: found {what}, allowed {allowed}{meant}")


def _shown(value: object) -> str:
    known = isinstance(value, str | int | float | Mapping | None)
    return on_one_line(repr(value)[:_LONGEST]) if known else f"a {type(value).__name__}"
