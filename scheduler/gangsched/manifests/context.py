"""What a decoder remembers from object to object: classes, counters, templates, warnings."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, define, frozen

from gangsched.manifests.errors import describe, found, not_one_of
from gangsched.manifests.fields import Raw
from gangsched.manifests.times import epoch_nanoseconds
from gangsched_framework.objects import PriorityClass

BUILT_IN_CLASSES = (
    PriorityClass("system-node-critical", 2_000_001_000),
    PriorityClass("system-cluster-critical", 2_000_000_000),
)
"""Priority classes every cluster has."""

GROUPS = "GenericWorkload"
"""The feature gate of groups."""


@frozen
class Defaults:
    """How manifests become objects.

    ``start``: RFC 3339 time of engine time zero. ``api_defaulting``: fill in what the API server fills in (spec
    node-plugins.md §3.1.1-4). ``merge_match_label_keys``: merge ``matchLabelKeys`` into selectors (§3.1.5).
    """

    start: str = "2026-01-01T00:00:00Z"
    api_defaulting: bool = True
    merge_match_label_keys: bool = True

    def __attrs_post_init__(self) -> None:
        epoch_nanoseconds(self.start)  # a bad start is an error now, not at the first time that is read


@frozen
class RuntimeClass:
    """What a RuntimeClass adds to the pods that name it: overhead (nano-units), node selector, tolerations."""

    name: str
    overhead: Mapping[str, int]
    node_selector: Mapping[str, str]
    tolerations: tuple[Raw, ...]


@define
class Context:
    """The mutable side of one decoder; its owner is the :class:`~gangsched.manifests.decoder.Decoder`."""

    defaults: Defaults
    strict: bool
    gates: Mapping[str, bool] = {}
    where: str = ""
    label: str = ""
    skipped: dict[str, int] = Factory(dict)
    priority_classes: dict[str, PriorityClass] = Factory(lambda: {known.name: known for known in BUILT_IN_CLASSES})
    global_default: PriorityClass | None = None
    runtime_classes: dict[str, RuntimeClass] = Factory(dict)
    _warned: dict[str, tuple[str, int]] = Factory(dict)
    _group_apis: dict[str, str] = Factory(dict)
    _created: dict[str, int] = Factory(dict)
    _numbered: dict[str, int] = Factory(dict)

    def engine_time(self, text: str) -> int:
        """Engine nanoseconds of an RFC 3339 time."""
        return epoch_nanoseconds(text) - epoch_nanoseconds(self.defaults.start)

    def warn_once(self, subject: str, message: str) -> None:
        """Warn about ``subject``, for the first object that has it; the others are counted."""
        known = self._warned.get(subject)
        text, count = known or (": ".join(part for part in (self.where, self.label, message) if part), 0)
        self._warned[subject] = (text, count + 1)

    def tell(self, warning: str) -> None:
        """A warning that names its places itself."""
        self._warned[warning] = (warning, 1)

    @property
    def groups(self) -> bool:
        """Whether there are groups; without their gate every pod stands alone (spec podgroup-scheduling.md §0.3)."""
        return self.gates.get(GROUPS, True)

    def warn_off(self, gate: str, path: str = "") -> None:
        """Warn about a field, or ('') the object itself, that decides nothing if ``gate`` is known to be off."""
        if not self.gates.get(gate, True):
            field = f"{path}: " if path else ""
            kind = self.label.partition("/")[0]
            self.warn_once(f"{gate} {kind} {path}", f"{field}decides nothing while the feature gate {gate} is off")

    @property
    def warnings(self) -> list[str]:
        """One a subject, in the order they came up."""
        return [text if count == 1 else f"{text} ({count - 1} more)" for text, count in self._warned.values()]

    def new_uid(self, kind: str, key: str) -> str:
        """``Kind|namespace/name#n``, n counting the objects of that kind and key (conformance README §3)."""
        identity = f"{kind}|{key}"
        count = self._created.get(identity, 0) + 1
        self._created[identity] = count
        return f"{identity}#{count}"

    def numbered(self, kind: str, namespace: str, prefix: str) -> str:
        """The next name of ``generateName: prefix`` (architecture.md §11)."""
        identity = f"{kind}|{namespace}/{prefix}"
        number = self._numbered.get(identity, 0)
        self._numbered[identity] = number + 1
        return f"{prefix}{number:05d}"

    def class_of(self, name: str, priority: int | None) -> PriorityClass | None:
        """The class of an object: the one it names, else the global default when it has no priority either.

        Strict: raises InputError, below ``spec``, for an unknown class and for a priority the class does not have.
        """
        if not name:
            return self.global_default if priority is None else None
        known = self.priority_classes.get(name)
        if self.strict:
            if known is None:
                raise not_one_of(name, self.priority_classes, "priorityClassName")
            if priority is not None and priority != known.value:
                raise found(describe(priority), f"{known.value}, the value of class {name}, or nothing", "priority")
        return known

    def learn_pod_group(self, api: str, key: str) -> None:
        """Raise InputError when ``key`` is a PodGroup of another API already; the scheduler could not tell them apart.

        ``api`` '' = a group that was made of a workload.
        """
        group = api.rpartition("/")[0]
        known = self._group_apis.setdefault(key, group) if group else group
        if known != group:
            raise found(f"PodGroup {key} of {group}", f"one PodGroup of that name, and there is one of {known}")

    def learn_priority_class(self, known: PriorityClass) -> None:
        """Make a class known to the objects that follow.

        Strict: raises InputError for a second default class and for another value of a class that is known.
        """
        default, before = self.global_default, self.priority_classes.get(known.name)
        if self.strict:
            if before is not None and before.value != known.value:
                raise found(describe(known.value), f"{before.value} as before, or a deletion and an addition", "value")
            if known.global_default and default is not None and default.name != known.name:
                raise found("true", f"false, as {default.name} is the default", "globalDefault")
        self.forget_priority_class(known.name)
        self.priority_classes[known.name] = known
        if known.global_default:
            self.global_default = known

    def forget_priority_class(self, name: str) -> None:
        """The class was deleted."""
        self.priority_classes.pop(name, None)
        if self.global_default is not None and self.global_default.name == name:
            self.global_default = None
