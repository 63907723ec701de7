"""From a file or mapping to the effective configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangsched.config.arguments import ARGUMENTS
from gangsched.config.defaults import DEFAULT_SCHEDULER_NAME, KNOWN_PLUGINS, SETTINGS, default_origin, default_plugins
from gangsched.config.document import Document, Entry, PluginSet, WrittenProfile, parse_document, read_document
from gangsched.config.expand import WEIGHTED, BuildError, expand, merge
from gangsched.config.fair_share import is_dynamic, with_fair_share
from gangsched.config.gates import FeatureGates
from gangsched.config.group_scheduling import SECTION, chosen, fields_of
from gangsched.config.halves import halved
from gangsched.config.model import NodeOrder, SchedulerConfig
from gangsched.config.problems import ConfigFileError, Problem, Source, dotted
from gangsched.config.validate import problems
from gangsched.engine.settings import GroupScheduling
from gangsched_framework.errors import ConfigurationError, InputError, did_you_mean
from gangsched_framework.profile import PluginRef, Profile
from gangsched_framework.registry import Registry
from gangsched_framework.strict_yaml import read_text
from gangsched_framework.yaml_lines import ValuePath, lines
from gangsched_plugins import names
from gangsched_plugins.default_registry import default_registry

_SECOND = 10**9
_GIVEN = "configuration"
"""How a configuration that came as a mapping is called in messages."""


def default_config(
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    dynamic_resources: bool = False,
    node_order: NodeOrder | None = None,
) -> SchedulerConfig:
    """The configuration without a document: one profile ``default-scheduler`` of the default plugins, all nodes scored.

    DynamicResources is left out, as in the recordings without a document (conformance README §2): upstream's turns a
    group that is rejected before its first pod into an Error (DIV-21), and claims are not modelled anyway.
    """
    left_out = () if dynamic_resources else (Entry(names.DYNAMIC_RESOURCES),)
    profile = WrittenProfile((), DEFAULT_SCHEDULER_NAME, plugins={"multiPoint": PluginSet(disabled=left_out)})
    document = Document(Source(_GIVEN), {}, (profile,))
    return _Builder(document, gates or FeatureGates.BASE, registry or default_registry()).config(node_order)


def load_config(
    source: str | os.PathLike[str] | Mapping[str, Any],
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    *,
    node_order: NodeOrder | None = None,
) -> SchedulerConfig:
    """Read a KubeSchedulerConfiguration v1: a YAML or JSON file by its name, or a mapping.

    Default plugins are all those of the gates, DynamicResources included. Raises ConfigurationError
    (``FILE:LINE: what``; a ConfigFileError when the content is at fault) in the words of kube-scheduler.
    """
    if isinstance(source, Mapping):
        place = Source(_GIVEN)
        content: object = source
    else:
        name = os.fspath(source)
        try:
            place = Source(name, read_text(name))
        except InputError as error:
            raise ConfigurationError(str(error)) from None
        content = parse_document(place)
    document = read_document(content, place)
    return _Builder(document, gates or FeatureGates.BASE, registry or default_registry()).config(node_order)


class _Builder:
    """Builds the profiles of a document and notes where each value came from."""

    def __init__(self, document: Document, gates: FeatureGates, registry: Registry) -> None:
        self._document = document
        self._gates = gates
        self._registry = registry
        self._lines = lines(document.source.text) if document.source.text is not None else None
        self._origins: dict[str, str] = {}

    def config(self, node_order: NodeOrder | None) -> SchedulerConfig:
        document = self._document
        settings = {**SETTINGS, **document.settings}
        if found := list(problems(document, settings, self._registry)):
            raise ConfigFileError(document.source, "validate", found)
        for key in settings:
            self._origins[key] = self._origin((key,)) if key in document.settings else "default"
        written_order = self._origin(("nodeOrder",)) if document.node_order else "default"
        self._origins["nodeOrder"] = "option" if node_order else written_order
        groups = chosen(document.group_scheduling, GroupScheduling())
        for key in fields_of(groups):
            written_here = key in document.group_scheduling
            self._origins[f"{SECTION}.{key}"] = self._origin((SECTION, key)) if written_here else "default"
        written = document.profiles or (WrittenProfile(()),)
        profiles = self._profiles(written, settings)
        return SchedulerConfig(
            profiles=profiles,
            gates=self._gates,
            initial_backoff=settings["podInitialBackoffSeconds"] * _SECOND,
            max_backoff=settings["podMaxBackoffSeconds"] * _SECOND,
            parallelism=settings["parallelism"],
            percentage_of_nodes_to_score=settings["percentageOfNodesToScore"],
            percentage_of_placements_to_score=settings["percentageOfPlacementsToScore"],
            node_order=node_order or document.node_order or "name",
            group_scheduling=groups,
            origins=self._origins,
            warnings=(*self._misspelt(), *self._halved(written, profiles)),
        )

    def _profiles(self, written: Sequence[WrittenProfile], settings: Mapping[str, int]) -> tuple[Profile, ...]:
        profiles: list[Profile] = []
        for item in written:
            name = item.scheduler_name or DEFAULT_SCHEDULER_NAME
            try:
                profile = self._profile(item, name, settings)
                if profiles:
                    _check_same_sort(profiles[0], profile, item.path)
            except BuildError as error:
                problem = error.problem
                text = f"initializing profiles: creating profile for scheduler name {name}: {problem.text}"
                path = problem.path or item.path
                raise ConfigFileError(self._document.source, "build", [Problem(path, text, problem.hint)]) from None
            profiles.append(profile)
        return tuple(profiles)

    def _profile(self, written: WrittenProfile, name: str, settings: Mapping[str, int]) -> Profile:
        # A registry without a default plugin makes a smaller scheduler, not an error.
        available = [entry for entry in default_plugins(self._gates) if entry.name in self._registry]
        multi_point = merge(available, written.plugins.get("multiPoint", PluginSet()))
        needed = {entry.name for entry in multi_point}
        needed.update(entry.name for plugins in written.plugins.values() for entry in plugins.enabled)
        args = self._arguments(written, name, needed)
        points = with_fair_share(expand(multi_point, written.plugins, self._registry), written.plugins, self._registry)
        for point, limit, text in (
            ("queueSort", 1, f'only one queue sort plugin required for profile with scheduler name "{name}", but got '),
            ("bind", None, f'at least one bind plugin is needed for profile with scheduler name "{name}"'),
        ):
            count = 1 if point == "queueSort" and is_dynamic(points, self._registry) else len(points.get(point, ()))
            if count == 0 or (limit is not None and count > limit):
                raise BuildError((), text + (str(count) if limit else ""))
        for point, entries in points.items():
            for entry in entries:
                origin = self._origin(entry.path) if entry.path else default_origin(entry.name)
                self._origins[f"profiles.{name}.{point}.{entry.name}"] = origin
        own = written.percentage_of_nodes_to_score
        where = (*written.path, "percentageOfNodesToScore")
        self._origins[f"profiles.{name}.percentageOfNodesToScore"] = (
            self._origins["percentageOfNodesToScore"] if own is None else self._origin(where)
        )
        refs = {point: tuple(_reference(entry, point) for entry in entries) for point, entries in points.items()}
        nodes = settings["percentageOfNodesToScore"] if own is None else own
        return Profile(name, refs, args, nodes, settings["percentageOfPlacementsToScore"])

    def _arguments(self, written: WrittenProfile, name: str, needed: set[str]) -> dict[str, Mapping[str, Any]]:
        """Effective arguments of the plugins that have any, in name order; checks those checked when built (§2.7)."""
        given = {item.name: item for item in written.plugin_config}
        result: dict[str, Mapping[str, Any]] = {}
        for plugin in sorted(needed):
            arguments, item = ARGUMENTS.get(plugin), given.get(plugin)
            own = item.args if item else {}
            if arguments is None:
                if item:
                    result[plugin] = own
            else:
                result[plugin] = arguments.with_defaults(own)
                if arguments.checked_when_built and item:
                    _check_when_built(plugin, list(arguments.problems(result[plugin])), item.path)
            for field in result.get(plugin, ()):
                where = (*item.path, "args", field) if item and field in own else ()
                origin = self._origin(where) if where else "default"
                self._origins[f"profiles.{name}.args.{plugin}.{field}"] = origin
        return result

    def _origin(self, path: ValuePath) -> str:
        if self._lines is None:
            return f"{self._document.source.name} {dotted(path)}"
        while path not in self._lines:  # inside what an alias repeats
            path = path[:-1]
        return f"{self._document.source.name}:{self._lines[path]}"

    def _misspelt(self) -> Iterator[str]:
        """Names that upstream lets pass in silence, though they are probably misspelt (spec §2.3, §2.8)."""
        for profile in self._document.profiles:
            disabled = (entry for plugins in profile.plugins.values() for entry in plugins.disabled)
            named = [(entry.name, (*entry.path, "name")) for entry in disabled]
            named += [(item.name, (*item.path, "name")) for item in profile.plugin_config]
            for name, path in named:
                if name != "*" and name not in self._registry and name not in KNOWN_PLUGINS:
                    hint = did_you_mean(name, self._registry)
                    yield f'{self._origin(path)}: {dotted(path)}: there is no plugin "{name}"{hint}'

    def _halved(self, written: Sequence[WrittenProfile], profiles: Sequence[Profile]) -> Iterator[str]:
        for item, profile in zip(written, profiles, strict=True):
            for path, text in halved(profile.points, item.plugins):
                where = path or item.path
                yield f"{self._origin(where)}: {dotted(where)}: {text}"


def _reference(entry: Entry, point: str) -> PluginRef:
    """Weight 0 or absent counts as 1 (spec §2.5)."""
    return PluginRef(entry.name, (entry.weight or 1) if point in WEIGHTED else 1)


def _check_when_built(plugin: str, found: Sequence[Problem], path: ValuePath) -> None:
    if found:
        texts = [problem.text for problem in found]
        text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        hint = next((problem.hint for problem in found if problem.hint), "")
        raise BuildError((*path, "args", *found[0].path), f'initializing plugin "{plugin}": {text}', hint)


def _check_same_sort(first: Profile, other: Profile, path: ValuePath) -> None:
    """The queue is shared, whatever list brought the plugin that orders it (spec §2.10)."""
    sort, other_sort = ([ref.name for ref in profile.points["queueSort"]] for profile in (first, other))
    if sort != other_sort or any(first.args.get(name) != other.args.get(name) for name in sort):
        shown = f'queue sort plugin "{", ".join(other_sort)}"'
        raise BuildError(path, f'{shown}: must be the same for all profiles, first: "{", ".join(sort)}"')
