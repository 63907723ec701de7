"""World: what the core knows of the cluster (the real scheduler's cache and listers in one).

It owns the known objects, the assumed pods, and which object each node row counts. While a host holds a cycle that was
decided, changes of the node table wait here; its submit lets go of them. So the cycle sees the world as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from attrs import define, field

from gangsched_framework.accounts import Accounts
from gangsched_framework.hierarchy import Forest
from gangsched_framework.node_order import zone_of
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import (
    EntityKey,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    Queue,
    SelectorOwner,
)
from gangsched_framework.snapshot import Snapshot


@define(eq=False)
class World:
    """The known cluster. ``pods`` by ``namespace/name`` holds waiting and assigned pods, not finished ones.

    ``nodes`` and ``pods`` show every change at once, the table when no cycle holds it. ``schedulers``: the names whose
    pods are tried here; one of another scheduler is a member, and counts for its tenant, only once it is assigned.
    """

    forest: Forest
    schedulers: Container[str]
    table: NodeTable = field(factory=NodeTable)
    nodes: dict[str, Node] = field(factory=dict)
    pods: dict[str, Pod] = field(factory=dict)
    namespaces: dict[str, Namespace] = field(factory=dict)
    priority_classes: dict[str, PriorityClass] = field(factory=dict)
    disruption_budgets: dict[str, PodDisruptionBudget] = field(factory=dict)
    selector_owners: dict[str, SelectorOwner] = field(factory=dict)
    queues: dict[str, Queue] = field(factory=dict)
    _assumed: dict[str, str] = field(factory=dict)  # key of a known pod whose binding is under way -> its node
    accounts: Accounts | None = None
    """The books of tenants and jobs, once somebody asked for them."""
    listed: int = 0
    """Counts the changes of namespaces, priority classes, budgets, owners and queues."""
    version: int = 0
    """Counts the changes an evaluation could notice: of nodes, of pods, their groups and promised room on them, of
    namespaces, owners and budgets."""
    held: list[tuple[Callable[..., object], tuple[Any, ...]]] | None = None
    """Changes that wait for the node table; None while nobody keeps them away."""

    # --- the snapshot's hold ----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Keep changes away from the node table until ``release``."""
        self.held = []

    def let_go(self) -> bool:
        """End the hold if no change waits."""
        if self.held:
            return False
        self.held = None
        return True

    def release(self) -> None:
        """Apply the changes that waited, in order."""
        held, self.held = self.held, None
        for change, arguments in held or ():
            change(*arguments)

    def _on_table(self, change: Callable[..., object], *arguments: Any) -> None:
        self.version += 1
        if self.held is None:
            change(*arguments)
        else:
            self.held.append((change, arguments))

    # --- accounts ---------------------------------------------------------------------------------------------------

    def keep_accounts(self, snapshot: Snapshot) -> Accounts:
        """The accounts, from now on kept in step with the world and with the steps of ``snapshot``."""
        if self.accounts is None:
            accounts = self.accounts = Accounts(self.forest, snapshot.follow())
            for queue in self.queues.values():
                accounts.set_queue(queue.name, queue)
            for node in self.nodes.values():
                accounts.set_node(node, node.name)
            for pod in self.pods.values():
                if self._takes_part(pod):
                    accounts.see(pod, self._has_place(pod))
        return self.accounts

    def _takes_part(self, pod: Pod) -> bool:
        return pod.node_name != "" or pod.scheduler_name in self.schedulers

    def _has_place(self, pod: Pod) -> bool:
        return pod.node_name != "" or pod.key in self._assumed

    def regroup(self, key: EntityKey) -> None:
        """A group came, went, or changed: its pods may count for others now, running ones be of another priority."""
        for leaf in self.forest.leaves_below(key):
            if self.forest.scheduled_count(leaf):
                self.version += 1
            if self.accounts is not None:
                for pod in self.forest.pods(leaf).values():
                    self.accounts.see(pod, self._has_place(pod), regrouped=True)

    def set_queue(self, name: str, queue: Queue | None) -> None:
        """A Queue comes, changes, or (None) goes."""
        if queue is None:
            del self.queues[name]
        else:
            self.queues[name] = queue
        self.version += 1
        self.listed += 1
        if self.accounts is not None:
            self.accounts.set_queue(name, queue)

    # --- pods -------------------------------------------------------------------------------------------------------

    def add_pod(self, pod: Pod) -> bool:
        """A pod appears, waiting or assigned. Whether it takes part: False = it waits for another scheduler."""
        self.pods[pod.key] = pod
        if pod.node_name:
            self._on_table(self.table.add_pod, pod, pod.node_name)
        elif pod.scheduler_name not in self.schedulers:
            return False
        if pod.group_key is not None:
            self.forest.add_pod(pod)
        if self.accounts is not None:
            self.accounts.add(pod)
            if pod.node_name:
                self.accounts.place(pod.key, True)
        return True

    def update_pod(self, old: Pod, new: Pod) -> bool:
        """A pod changes; an assumed pod that shows its node is confirmed. Whether it was assumed."""
        key, node_name = new.key, new.node_name
        self.pods[key] = new
        takes_part = node_name != "" or self._takes_part(new)  # no call for a binding seen
        if takes_part and (old.group_key is not None or new.group_key is not None):
            self.forest.update_pod(old, new)
        assumed = key in self._assumed
        if node_name:
            self._move(new, self._assumed.pop(key) if assumed else old.node_name)
        elif old.node_name:
            self._on_table(self.table.remove_pod, new, old.node_name)
        if takes_part and self.accounts is not None:
            self.accounts.see(new, assumed or node_name != "")
        return assumed

    def renew_pod(self, pod: Pod) -> bool:
        """A pod without a node shows another status, and is otherwise as it was. Whether it is assumed."""
        key = pod.key
        self.pods[key] = pod
        if pod.group_key is not None:
            self.forest.renew_pod(pod)
        return key in self._assumed

    def confirm(self, old: Pod, new: Pod) -> bool:
        """An assumed pod shows its node and another status, and is otherwise as it was: what is counted stays.

        False, and nothing is done, when it was not assumed there, or the table must not be changed now.
        """
        key, node_name = new.key, new.node_name
        if self._assumed.get(key) != node_name or self.held is not None:
            return False
        del self._assumed[key]
        self.version += 1
        self.pods[key] = new
        if new.group_key is not None:
            self.forest.renew_pod(new)
        self.table.replace_pod(new, node_name, old)
        return True

    def delete_pod(self, pod: Pod) -> None:
        """A pod is gone, and its reservation with it: no binding under way can succeed any more."""
        known = self.pods.pop(pod.key, None)
        self.forest.delete_pod(pod)
        node_name = self._assumed.pop(pod.key, "") or ("" if known is None else known.node_name)
        if node_name:
            self._on_table(self.table.remove_pod, pod, node_name)
        if self.accounts is not None:
            self.accounts.drop(pod.key)

    def assume(self, pod: Pod, node_name: str, counted: bool = False) -> bool:
        """Count a pod on its node before the binding is known; ``counted``: the committed snapshot did so already.

        A pod that has gone, or been replaced, since it was popped counts nowhere; its binding will fail. False, and
        nothing is done, when it is placed already.
        """
        key = pod.key
        if self.pods.get(key) is not pod or key in self._assumed:  # not as it was popped
            if self.is_placed(pod):
                return False
            known = self.pods.get(key)
            if known is None or known.uid != pod.uid:
                if counted:
                    self.version += 1
                    self.table.remove_pod(pod, node_name)
                return True
        self._assumed[key] = node_name
        if pod.group_key is not None:
            self.forest.assume(pod, node_name)
        if self.accounts is not None:
            self.accounts.place(key, True)
        if counted:
            self.version += 1
        else:
            self._on_table(self.table.add_pod, pod, node_name)
        return True

    def assume_all(self, pods: Mapping[str, Pod], nodes: Sequence[str]) -> bool:
        """``assume`` of popped pods by key, each on its node, that the committed snapshot counts already.

        False, and nothing is done, when one of them is not the known object any more. None is assumed already: those
        that were the cycle left out (``not_tried``), and nothing but a submit assumes.
        """
        if not pods.items() <= self.pods.items():
            return False
        self._assumed.update(zip(pods, nodes, strict=True))
        self.version += len(pods)
        self.forest.assume_all(pods.values(), nodes)
        if self.accounts is not None:
            for key in pods:
                self.accounts.place(key, True)
        return True

    def forget(self, pod: Pod) -> None:
        """The binding failed: take the reservation back."""
        if self.is_assumed(pod):
            self.forest.forget(pod)
            self._on_table(self.table.remove_pod, pod, self._assumed.pop(pod.key))
            if self.accounts is not None:
                self.accounts.place(pod.key, False)

    def is_placed(self, pod: Pod) -> bool:
        """Whether a popped pod, or one that took its name, has a node by now: assumed, or assigned by someone else."""
        known = self.pods.get(pod.key)
        return known is not None and (known.node_name != "" or (pod.key in self._assumed and known.uid == pod.uid))

    def not_tried(self, pods: Sequence[Pod]) -> list[Pod]:
        """Those of popped pods that are being deleted, or have a node by now (spec §4.4)."""
        known, assumed = self.pods, self._assumed
        left_out: list[Pod] = []
        for pod in pods:
            key = pod.key
            if known.get(key) is pod and key not in assumed and pod.deletion_timestamp is None:
                continue  # as it was popped, waiting: the usual case, without a call
            if pod.deletion_timestamp is not None or self.is_placed(pod):
                left_out.append(pod)
        return left_out

    def is_assumed(self, pod: Pod) -> bool:
        return pod.key in self._assumed and self.pods[pod.key].uid == pod.uid

    def _move(self, pod: Pod, before: str) -> None:
        """Count a pod on the node it shows; ``before``: where it counted, '' = nowhere."""
        table, node_name = self.table, pod.node_name
        if before == node_name:
            self._on_table(table.replace_pod, pod, node_name)
            return
        if before:
            self._on_table(table.remove_pod, pod, before)
        self._on_table(table.add_pod, pod, node_name)

    # --- nodes ------------------------------------------------------------------------------------------------------

    def node(self, name: str) -> Node | None:
        return self.nodes.get(name)

    def add_node(self, node: Node) -> None:
        self.nodes[node.name] = node
        self._on_table(self.table.add_node, node)
        self._account_node(node.name)

    def update_node(self, old: Node, new: Node) -> None:
        self.nodes[new.name] = new
        self._on_table(self._update_node, new, zone_of(old) != zone_of(new))
        self._account_node(new.name)

    def _update_node(self, node: Node, moved_to_end: bool) -> None:
        self.table.update_node(node, moved_to_end=moved_to_end)

    def delete_node(self, name: str) -> None:
        del self.nodes[name]
        self._on_table(self.table.remove_node, name)
        self._account_node(name)

    def touch(self, name: str) -> None:
        """Room on a node is promised to somebody, or to nobody any more."""
        self.version += 1
        self.table.touch(name)

    def _account_node(self, name: str) -> None:
        if self.accounts is not None:
            self.accounts.set_node(self.nodes.get(name), name)

    def _check(self) -> None:
        """Assert that table and forest count exactly the assigned and assumed pods (tests only)."""
        assert self.held is None
        self.forest._check()
        assert self.nodes == {node.name: node for node in self.table.known_nodes()}
        for key, pod in self.pods.items():
            assert pod.key == key
            assert not (pod.node_name and key in self._assumed)
            if pod.group_key is not None:
                scheduled = pod.uid in self.forest.scheduled_pods(pod.group_key)
                assert scheduled == (bool(pod.node_name) or key in self._assumed)
                assert (pod.uid in self.forest.pods(pod.group_key)) == self._takes_part(pod)
            assert self.accounts is None or self._takes_part(pod) or self.accounts.is_placed(key) is None
        assert self._assumed.keys() <= self.pods.keys()
        self.table.settle()
        self.table._check()
        stand = [*zip(self.table.names, self.table.pods, strict=True), *self.table.homeless.pods.items()]
        places = ((key, pod.node_name or self._assumed.get(key)) for key, pod in self.pods.items())
        assert {key: node for node, pods in stand for key in pods} == {key: node for key, node in places if node}
        for _, pods in stand:
            assert all(pod is self.pods[key] for key, pod in pods.items() if pod.node_name)
        if self.accounts is not None:
            self.accounts._check()
