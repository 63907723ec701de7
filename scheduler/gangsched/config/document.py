"""KubeSchedulerConfiguration v1 as written: the shape of the document, and its profiles as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attrs import frozen

from gangsched.config.arguments import ARGUMENTS
from gangsched.config.group_scheduling import GROUP_SCHEDULING, SECTION
from gangsched.config.model import NodeOrder
from gangsched.config.problems import ConfigFileError, Problem, Source, dotted, shown
from gangsched.config.schema import Bool, Fields, FreeMap, Int, ListOf, Number, OneOf, Shape, Text, read
from gangsched_framework.errors import InputError
from gangsched_framework.profile import POINTS
from gangsched_framework.strict_yaml import parse
from gangsched_framework.yaml_lines import ValuePath, line_of

GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"

_PLUGIN = Fields({"name": Text(), "weight": Int(32)})
_PLUGIN_SET = Fields({"enabled": ListOf(_PLUGIN), "disabled": ListOf(_PLUGIN)})
_PROFILE = Fields(
    {
        "schedulerName": Text(),
        "percentageOfNodesToScore": Int(32),
        "plugins": Fields(dict.fromkeys(("multiPoint", *POINTS), _PLUGIN_SET)),
        "pluginConfig": ListOf(Fields({"name": Text(), "args": FreeMap()})),
    }
)
_DOCUMENT = Fields(
    {
        "apiVersion": Text(),
        "kind": Text(),
        "parallelism": Int(32),
        "percentageOfNodesToScore": Int(32),
        "percentageOfPlacementsToScore": Int(32),
        "podInitialBackoffSeconds": Int(64),
        "podMaxBackoffSeconds": Int(64),
        "profiles": ListOf(_PROFILE),
        SECTION: GROUP_SCHEDULING,  # ours (docs/choices.md)
        "nodeOrder": OneOf(get_args(NodeOrder)),  # ours (architecture.md §4)
        "extenders": ListOf(FreeMap()),
        # Known, and without meaning for decisions: read and left.
        "delayCacheUntilActive": Bool(),
        "enableProfiling": Bool(),
        "enableContentionProfiling": Bool(),
        "leaderElection": Fields(
            {
                "leaderElect": Bool(),
                **dict.fromkeys(("leaseDuration", "renewDeadline", "retryPeriod"), Text()),
                **dict.fromkeys(("resourceLock", "resourceName", "resourceNamespace"), Text()),
            }
        ),
        "clientConnection": Fields(
            {
                **dict.fromkeys(("kubeconfig", "acceptContentTypes", "contentType"), Text()),
                "qps": Number(),
                "burst": Int(32),
            }
        ),
    }
)


@frozen
class Entry:
    """A plugin as it stands in a list; ``path`` is () for one of the default list."""

    name: str
    weight: int = 0
    path: ValuePath = ()


@frozen
class PluginSet:
    """What a document says of one extension point (or of multiPoint)."""

    enabled: tuple[Entry, ...] = ()
    disabled: tuple[Entry, ...] = ()

    def disables(self, name: str) -> bool:
        return any(entry.name in (name, "*") for entry in self.disabled)


@frozen
class PluginArgs:
    """One entry of pluginConfig; ``args`` without defaults."""

    name: str
    args: Mapping[str, Any]
    path: ValuePath


@frozen
class WrittenProfile:
    """``plugins`` holds ``multiPoint`` and the extension points that were written."""

    path: ValuePath
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: int | None = None
    plugins: Mapping[str, PluginSet] = {}
    plugin_config: tuple[PluginArgs, ...] = ()


@frozen
class Document:
    """What a configuration says: of the top level's numbers, groupScheduling and nodeOrder what was written."""

    source: Source
    settings: Mapping[str, int] = {}
    profiles: tuple[WrittenProfile, ...] = ()
    group_scheduling: Mapping[str, str | bool] = {}
    node_order: NodeOrder | None = None


def read_document(content: object, source: Source) -> Document:
    """Decode strictly. Raises ConfigFileError of stage ``decode``."""
    _check_kind(content, source)
    problems: list[Problem] = []
    values = read(content, _DOCUMENT, (), problems)
    if values.get("extenders"):
        problems.append(Problem(("extenders", 0), "extenders: HTTP extenders are not supported"))
    if problems:
        raise ConfigFileError(source, "decode", problems)
    profiles = tuple(
        _profile(item, ("profiles", index), source) for index, item in enumerate(values.get("profiles", ()))
    )
    settings = {key: value for key, value in values.items() if isinstance(_DOCUMENT.fields[key], Int)}
    return Document(source, settings, profiles, values.get(SECTION, {}), values.get("nodeOrder"))


def parse_document(source: Source) -> object:
    """The only YAML or JSON document of the text. Raises ConfigFileError when there is more than one, or none."""
    text = source.text or ""
    try:
        documents = parse(text, source.name)
    except InputError as error:
        unread = Source(source.name)  # its lines are as unreadable as the rest
        raise ConfigFileError(unread, "decode", [Problem((), error.message)], error.line) from None
    written = [index for index, document in enumerate(documents) if document is not None]
    if len(written) > 1:
        problem = Problem((), f"found {len(written)} documents, allowed one")
        raise ConfigFileError(source, "decode", [problem], line_of(text, written[1], ()))
    return documents[written[0]] if written else None


def _check_kind(content: object, source: Source) -> None:
    if content is not None and not isinstance(content, Mapping):
        problems: list[Problem] = []
        read(content, _DOCUMENT, (), problems)
        raise ConfigFileError(source, "decode", problems)
    written = content or {}
    for key, name in (("kind", "Kind"), ("apiVersion", "apiVersion")):
        if not written.get(key):
            text = f"Object '{name}' is missing in '{shown(written) if written else ''}'"
            hint = f"; write {key}: {KIND if key == 'kind' else API_VERSION}"
            raise ConfigFileError(source, "decode", [Problem((), text, hint)])
    if written["kind"] != KIND or written["apiVersion"] != API_VERSION:
        text = f"no kind {shown(written['kind'])} is registered for version {shown(written['apiVersion'])}"
        wrong = "kind" if written["kind"] != KIND else "apiVersion"
        raise ConfigFileError(source, "decode", [Problem((wrong,), text, f"; allowed: kind {KIND} of {API_VERSION}")])


def _profile(values: Mapping[str, Any], path: ValuePath, source: Source) -> WrittenProfile:
    plugins = {
        point: PluginSet(
            _entries(lists.get("enabled", ()), (*path, "plugins", point, "enabled")),
            _entries(lists.get("disabled", ()), (*path, "plugins", point, "disabled")),
        )
        for point, lists in values.get("plugins", {}).items()
    }
    config = tuple(
        _plugin_args(item, (*path, "pluginConfig", index), source)
        for index, item in enumerate(values.get("pluginConfig", ()))
    )
    return WrittenProfile(path, values.get("schedulerName"), values.get("percentageOfNodesToScore"), plugins, config)


def _entries(items: Sequence[Mapping[str, Any]], path: ValuePath) -> tuple[Entry, ...]:
    return tuple(Entry(item.get("name", ""), item.get("weight", 0), (*path, index)) for index, item in enumerate(items))


def _plugin_args(item: Mapping[str, Any], path: ValuePath, source: Source) -> PluginArgs:
    """Decode the arguments of an in-tree plugin; those of others pass unread (spec §2.8)."""
    name, args = item.get("name", ""), item.get("args", {})
    here = (*path, "args")
    if name not in ARGUMENTS:
        return PluginArgs(name, args, path)
    version, kind = args.get("apiVersion") or API_VERSION, args.get("kind") or f"{name}Args"
    if kind != f"{name}Args" or version != API_VERSION:
        group = str(version).rpartition("/")[0]
        text = f"args for plugin {name} were not of type {name}Args.{GROUP}, got {kind}.{group}"
        if group == GROUP and kind == f"{name}Args":
            text = f'decoding args for plugin {name}: no kind "{kind}" is registered for version "{version}"'
        raise ConfigFileError(source, "decode", [Problem(here, f"decoding .{dotted(path)}: {text}")])
    problems: list[Problem] = []
    shape: Shape = ARGUMENTS[name].shape
    values = read({k: v for k, v in args.items() if k not in ("apiVersion", "kind")}, shape, here, problems)
    if problems:
        raise ConfigFileError(source, "decode", problems)
    return PluginArgs(name, values, path)
