"""Small wrong changes of queue and engine, each of which the tests must notice.

``old`` stands exactly once in ``file``; a mutation whose text is gone fails loudly and must be rewritten or dropped
with the rule it broke.
"""

from __future__ import annotations

from attrs import frozen

QUEUE = "queue/gangsched_queue"
ENGINE = "scheduler/gangsched/engine"


@frozen
class Mutation:
    """Replace ``old`` by ``new`` in ``file``. ``what`` says what is then wrong."""

    what: str
    file: str
    old: str
    new: str


def _queue(file: str, what: str, old: str, new: str) -> Mutation:
    return Mutation(what, f"{QUEUE}/{file}.py", old, new)


def _engine(file: str, what: str, old: str, new: str) -> Mutation:
    return Mutation(what, f"{ENGINE}/{file}.py", old, new)


MUTATIONS: tuple[Mutation, ...] = (
    # --- backoff ----------------------------------------------------------------------------------------------------
    _queue("backoff", "the first penalty is doubled already", "doublings = count - 1", "doublings = count"),
    _queue("backoff", "the maximum grows with the members, not their root", "math.sqrt(members)", "members"),
    _queue(
        "backoff",
        "the end of a penalty is not aligned",
        "return end - end % SECOND if settings.pop_from_backoff else end",
        "return end",
    ),
    _queue("backoff", "a penalty is served at its expiration", "return expires < (now", "return expires <= (now"),
    _queue(
        "backoff",
        "rejections count before errors",
        "return params.consecutive_errors or params.unschedulable_count",
        "return params.unschedulable_count or params.consecutive_errors",
    ),
    _queue(
        "backoff_queue",
        "groups may be popped early",
        "if isinstance(entity, QueuedPodInfo) and (",
        "if not isinstance(entity, QueuedPodInfo) or (",
    ),
    _queue(
        "backoff_queue",
        "the expiration is computed anew at each look",
        "if entity.backoff_expiration is None:",
        "if True:",
    ),
    # --- one attempt ------------------------------------------------------------------------------------------------
    _queue(
        "operations_cycle",
        "newcomers keep the old timestamp, leftovers get a new one",
        "if entity.size == sum(",
        "if entity.size != sum(",
    ),
    _queue(
        "operations_cycle",
        "success leaves the errors counted",
        "entity.unschedulable_count = entity.consecutive_errors = 0",
        "entity.unschedulable_count = 0",
    ),
    _queue(
        "operations_cycle",
        "a root in error counts as a rejection",
        "_count_failure(entity, root_status.code is Code.ERROR)",
        "_count_failure(entity, False)",
    ),
    _queue(
        "operations_cycle",
        "a rejection leaves the consecutive errors",
        "        entity.unschedulable_count += 1\n        entity.consecutive_errors = 0",
        "        entity.unschedulable_count += 1",
    ),
    _queue(
        "operations_cycle",
        "a failed pod stays in flight",
        "    finally:\n        queue.in_flight.done(uid)",
        "    finally:\n        pass",
    ),
    _queue(
        "operations_cycle",
        "a failed pod keeps its timestamp",
        "        info.timestamp = queue.clock.time\n        info.backoff",
        "        info.backoff",
    ),
    _queue(
        "operations_cycle",
        "a failed member keeps its timestamp",
        "        raise _queued_already(info)\n    info.timestamp = queue.clock.time\n\n",
        "        raise _queued_already(info)\n\n",
    ),
    _queue(
        "waiting",
        "a tree that is ready for the first time was so for all its members",
        "                        if info.initial_attempt_timestamp is None:\n",
        "                        if True:\n",
    ),
    _queue(
        "operations_cycle", "a failed member stays in flight", "mark = in_flight.done(", "mark = in_flight.marks.get("
    ),
    _queue("operations_cycle", "a failed pod keeps its old expiration", "info.backoff_expiration = None", "pass"),
    _queue("in_flight", "a member in flight is popped again", "if info.pod.uid not in marks]", "if True]"),
    _queue(
        "operations_cycle",
        "attempts are lost with the cycle",
        "    entity.come_back(group, leaves)\n",
        "    entity.come_back(group, leaves)\n    entity.attempts = 0\n",
    ),
    _queue(
        "operations_cycle",
        "events of the attempt are not replayed",
        "missed = queue.in_flight.missed(uid)",
        'missed = queue.in_flight.missed("")',
    ),
    _queue(
        "operations_cycle",
        "leftovers of a success wait for an event",
        "queue.waiting.requeue(entity, IMMEDIATELY)\n        return",
        "queue.waiting.requeue(entity, SKIP)\n        return",
    ),
    # --- members and groups -----------------------------------------------------------------------------------------
    _queue(
        "containers",
        "newcomers of a popped tree make a second entity",
        "if root == self.last_popped:",
        'if root == "":',
    ),
    _queue(
        "containers",
        "a newcomer activates its tree",
        "self.waiting.requeue(entity, place.way_back, place)",
        "self.waiting.requeue(entity, IMMEDIATELY, place)",
    ),
    _queue(
        "containers",
        "incomplete pods come back in any order",
        "        pods.sort(key=lambda each: (each[1].timestamp, each[1].pod.key))\n",
        "",
    ),
    _queue(
        "operations_pods",
        "a tree that lost a member is not asked again",
        "    if entity.size:\n        queue.waiting.requeue(entity, place.way_back, place)",
        "    if entity.size:\n        pass",
    ),
    _queue(
        "operations_pods",
        "an empty tree stays queued",
        "        queue.waiting.take(entity.key)\n\n\ndef activate",
        "        pass\n\n\ndef activate",
    ),
    _queue(
        "operations_pods",
        "an update in flight is not remembered",
        "            queue.in_flight.record(event, old, new, only=uid)\n",
        "            pass\n",
    ),
    _queue(
        "operations_pods",
        "a new uid is taken for an update",
        "if old.uid != uid or old.group_name != new.group_name:",
        "if old.group_name != new.group_name:",
    ),
    _queue(
        "operations_groups",
        "incomplete pods are forgotten when their group comes",
        "    queue.readd(list(queue.forest.leaves_below(group.key)))",
        "    queue.forest.leaves_below(group.key)",
    ),
    _queue(
        "operations_groups",
        "pods of a deleted group are lost",
        "            entity.remove(leaf, info.pod.key)\n            queue.incomplete.add(leaf, info)",
        "            entity.remove(leaf, info.pod.key)",
    ),
    _queue(
        "operations_groups",
        "pending pods of a deleted group stay pending",
        "            for info in queue.pending.take(leaf):\n                queue.incomplete.add(leaf, info)",
        "            pass",
    ),
    _queue(
        "operations_groups",
        "a changed root keeps its old object in the queue",
        "        entity.renew(group)\n",
        "        pass\n",
    ),
    _queue(
        "member_gates",
        "members with fewer attempts go first",
        "-info.attempts, info.timestamp",
        "info.attempts, info.timestamp",
    ),
    # --- events and gates -------------------------------------------------------------------------------------------
    _queue(
        "operations_events",
        "events are not kept for pods in flight",
        "    in_flight.record(event, old, new)\n",
        "",
    ),
    _queue(
        "operations_events",
        "a member's arrival is not kept for pods in flight",
        "    queue.in_flight.record(MEMBER_ADD, None, pod)\n",
        "",
    ),
    _queue(
        "operations_events",
        "a member's arrival wakes nobody",
        "        _wake(queue, concerned, Occurrence(MEMBER_ADD, None, pod), None)\n",
        "        pass\n",
    ),
    _queue(
        "waiting",
        "trees are not found after a move",
        "            self.trees[entity.key] = entity, place\n",
        "            self.trees.setdefault(entity.key, (entity, place))\n",
    ),
    _queue(
        "operations_events",
        "a flushed entity is flushed every thirty seconds",
        "        entity.flush_timestamp = now\n",
        "",
    ),
    _queue(
        "operations_events",
        "the next flush may lie in the past",
        "overdue = max(oldest + settings.unschedulable_timeout, queue.clock.time)",
        "overdue = oldest + settings.unschedulable_timeout",
    ),
    _queue(
        "operations_events",
        "all members must pass the pre-check",
        "not any(pre_check(info.pod)",
        "not all(pre_check(info.pod)",
    ),
    _queue(
        "requeue",
        "a pending plugin leads to backoff",
        "                return IMMEDIATELY\n        elif",
        "                return AFTER_BACKOFF\n        elif",
    ),
    _queue(
        "requeue",
        "one member is asked for a whole tree",
        "            if within_tree:\n                break",
        "            break",
    ),
    _queue(
        "requeue",
        "a pod without rejectors waits for its hints",
        "        return AFTER_BACKOFF\n    if happened.event.wildcard:",
        "        pass\n    if happened.event.wildcard:",
    ),
    _queue(
        "in_flight",
        "events are pruned one too early",
        "while events and events[0].position < oldest:",
        "while events and events[0].position <= oldest + 1:",
    ),
    _queue("in_flight", "a pod hears the updates of others", 'if missed.only in ("", uid):', "if True:"),
    _queue(
        "unschedulable_entities",
        "a stale index keeps entities that left",
        "        if entity is not None:\n            self._unindex(key)",
        "        if entity is not None:\n            self.waits_for.pop(key)",
    ),
    _queue(
        "unschedulable_entities",
        "an entity that changed keeps its old index",
        "        if plugins != self.waits_for[key]:",
        "        if not self.waits_for[key]:",
    ),
    _queue(
        "pre_enqueue",
        "a gate that has opened is still shown",
        '            entity.gating_plugin = ""\n            return True',
        "            return True",
    ),
    # --- whom PreEnqueue need not be asked of -----------------------------------------------------------------------
    _queue(
        "operations_cycle",
        "a member that changed in its attempt is not asked again",
        "unchanged = mark is not None and mark[1] is pod and",
        "unchanged = mark is not None and",
    ),
    _queue(
        "operations_cycle",
        "a member of an earlier cycle is not asked when it comes back",
        "mark[1] is pod and mark[0] == queue.popped_at",
        "mark[1] is pod",
    ),
    _queue(
        "operations_cycle",
        "members are alike though their leaf has moved in the tree",
        "        if all(depth_of(leaf) == depth for leaf in leaves):\n",
        "        if True:\n",
    ),
    _queue(
        "pending_pods",
        "a pending member that changed is not asked again",
        "            self._unasked.setdefault(pod_key, True)\n",
        "            pass\n",
    ),
    _queue(
        "operations_pods",
        "whatever changes in a member, it is not asked again",
        "        if status_only:\n",
        "        if True:\n",
    ),
    # --- the short way of a newcomer --------------------------------------------------------------------------------
    _queue(
        "pre_enqueue",
        "a newcomer that is held back like all others is not marked",
        "                    info.unschedulable_plugins = keepers.marks[plugin]\n",
        "                    pass\n",
    ),
    _queue(
        "pre_enqueue",
        "what held a tree back is still told when a newcomer met something new",
        "entity.alike, entity.gating_plugin, entity.refusal = kind, plugin, status",
        "entity.alike, entity.gating_plugin = kind, plugin",
    ),
    _queue(
        "pre_enqueue",
        "a newcomer that another plugin holds back is held back like all others",
        "not plugin or plugin == entity.gating_plugin:",
        "not plugin or entity.gating_plugin:",
    ),
    _queue(
        "pre_enqueue",
        "a newcomer of another profile is like all others",
        "            and kind.profile == profile\n",
        "",
    ),
    _queue(
        "pre_enqueue",
        "members of two leaves are alike however deep these are",
        "            and (leaf in entity.by_leaf or kind.depth == self._depth(entity, leaf))\n",
        "",
    ),
    _queue(
        "pre_enqueue",
        "a tree that a third plugin shuts stays marked with the old one",
        "        return self._check_group(entity)  # everybody is",
        "        return status  # everybody is",
    ),
    _queue(
        "pre_enqueue",
        "a pod that a plugin for itself holds back speaks for all",
        'if (status.plugin if status is not None else "") not in its.keepers.telling:',
        "if False:",
    ),
    _queue(
        "waiting",
        "a tree whose gate a newcomer opens stays parked",
        "            self._move(entity, place, ACTIVE)",
        "            pass",
    ),
    _queue(
        "waiting",
        "a tree that a newcomer shuts stays where it is",
        "        elif entity.alike is None or entity.gating_plugin != gate:  # else all is as it was",
        "        elif False:",
    ),
    _queue(
        "containers",
        "a newcomer wakes its tree though the gate does not hear of arrivals",
        "heard = entity.gating_plugin in self.registrations.arrival_gates",
        "heard = True",
    ),
    _queue(
        "operations_pods",
        "an arrival is not told to the open trees of others",
        "queue.in_flight.marks or queue.waiting.parked.open or queue",
        "queue.in_flight.marks or queue",
    ),
    _queue(
        "containers",
        "a tree that serves a penalty is woken like a new one",
        "if place is PARKED and heard and not entity.attempts:",
        "if place is PARKED and heard:",
    ),
    _queue(
        "entities",
        "a changed member of a tree whose members are alike is not asked again",
        "            self.gates.leave(info)\n            self.gates.unseen[pod.key] = info\n",
        "            pass\n",
    ),
    _queue(
        "entities",
        "a member that leaves a tree of alike ones forgets its gate",
        "            info.gating_plugin = self.gating_plugin\n",
        "            pass\n",
    ),
    _queue(
        "waiting",
        "a penalty is skipped",
        "if strategy is AFTER_BACKOFF and self.backoff.is_backing_off(entity, self._clock.time):",
        "if False:",
    ),
    _queue(
        "nominator",
        "a nomination in memory is lost with an update",
        "            kept = self.node_of.get(old.uid)\n",
        "            kept = None\n",
    ),
    _queue(
        "nominator", "assigned pods may be nominated", "if newest is None or newest.node_name:", "if newest is None:"
    ),
    _queue(
        "pending_pods",
        "every pending pod counts as attempted",
        "self._unasked[key] = attempted",
        "self._unasked[key] = True",
    ),
    _queue(
        "entity_heap",
        "ties go by time of entry",
        "entry = (self._order(entity), key, entity)",
        'entry = (self._order(entity), EntityKey(""), entity)',
    ),
    # --- the world --------------------------------------------------------------------------------------------------
    _engine(
        "world",
        "an assumed pod stays assumed after it was confirmed",
        "self._assumed.pop(key) if assumed",
        "self._assumed[key] if assumed",
    ),
    _engine(
        "world",
        "a pod that was seen elsewhere counts where it was assumed",
        "if self._assumed.get(key) != node_name or",
        "if key not in self._assumed or",
    ),
    _engine(
        "world",
        "a deleted pod keeps its place",
        "        if node_name:\n            self._on_table(self.table.remove_pod, pod, node_name)",
        "        if False:\n            self._on_table(self.table.remove_pod, pod, node_name)",
    ),
    _engine("world", "a failed binding still counts for its gang", "            self.forest.forget(pod)\n", ""),
    _engine("world", "the cycle does not hold the world", "        self.held = []\n", "        self.held = None\n"),
    _engine(
        "world",
        "a pod assigned by others is tried all the same",
        'return known is not None and (known.node_name != "" or (',
        "return known is not None and (False or (",
    ),
    _engine(
        "event_handlers",
        "another parent is taken for a plain change",
        "(old.uid != new.uid or old.parent_name != new.parent_name)",
        "old.uid != new.uid",
    ),
    _engine(
        "event_handlers",
        "a lost nomination wakes nobody",
        "        if nominated and nominated != new.status.nominated_node_name:",
        "        if False:",
    ),
    _engine(
        "event_handlers",
        "the queue hears of a deletion after the cache",
        "        if self._responsible(pod):\n            self.queue.delete(pod)\n        self.world.delete_pod(pod)",
        "        self.world.delete_pod(pod)\n        if self._responsible(pod):\n            self.queue.delete(pod)",
    ),
    _engine(
        "scheduler",
        "a failed binding wakes nobody",
        "        self.queue.move_all(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), freed, None, _all_but(pod))\n",
        "",
    ),
    # --- the algorithm ----------------------------------------------------------------------------------------------
    _engine(
        "podgroup_algorithm",
        "a failed group keeps what it reserved",
        "result.status.message)\n                self.session.revert(mark)\n            result.any",
        "result.status.message)\n            result.any",
    ),
    _engine(
        "podgroup_algorithm",
        "only the last child decides whether something was placed",
        "result.any_scheduled = result.any_scheduled or answer.any_scheduled",
        "result.any_scheduled = answer.any_scheduled",
    ),
    _engine(
        "podgroup_algorithm",
        "a success that placed nothing stays a success",
        "if result.status.ok and not result.any_scheduled:",
        "if False:",
    ),
    _engine(
        "podgroup_algorithm",
        "placed pods are not counted",
        "                scheduled += len(tried)\n",
        "",
    ),
    _engine(
        "podgroup_algorithm",
        "a refused pod is counted as remaining",
        "            remaining -= len(tried)\n",
        "            remaining -= tried[-1].placed\n",
    ),
    _engine(
        "podgroup_algorithm",
        "failed children count as scheduled",
        "            if answer.status.ok:\n                scheduled += 1",
        "            scheduled += 1\n            if answer.status.ok:",
    ),
    _engine(
        "podgroup_algorithm",
        "an abort goes on to the next child",
        "if _stops(verdict) or (self._minimal and verdict.code is _SUCCESS):",
        "if self._minimal and verdict.code is _SUCCESS:",
    ),
    _engine(
        "podgroup_algorithm",
        "a leaf is not checked before its first pod",
        "        if _stops(verdict):\n            result.status = _pre_check(verdict)\n            return result\n",
        "",
    ),
    _engine(
        "podgroup_algorithm",
        "the results below an error are kept",
        "                return _broken_by(answer, group)\n",
        "                return GroupResult(group, _broken_by(answer, group).status, children=[answer])\n",
    ),
    _engine(
        "placement_algorithm",
        "of equal placements the last wins",
        "chosen = max(range(len(tried)), key=scores.totals.__getitem__)",
        "chosen = max(reversed(range(len(tried))), key=scores.totals.__getitem__)",
    ),
    _engine(
        "placement_algorithm",
        "what a simulation reserved stays",
        "    session.revert(mark)\n    snapshot.enter(previous)",
        "    snapshot.enter(previous)",
    ),
    _engine(
        "podgroup_algorithm",
        "the parent's placement is not restored",
        "        if placement is not parent:\n            snapshot.enter(parent)\n        return result if",
        "        return result if",
    ),
    _engine(
        "placement_algorithm",
        "an error in one placement is passed over",
        "        if attempt.result.status.code is Code.ERROR:\n            return attempt.result\n",
        "",
    ),
    _engine(
        "session",
        "the winner's pods are not reserved again",
        "            outcome = states[pod.key]\n            self.snapshot.assume(pod, node)\n",
        "            outcome = states[pod.key]\n",
    ),
    _engine(
        "podgroup_algorithm",
        "pods that were put somewhere at once stay there when somebody stops",
        "            session.revert(session.snapshot.mark() - len(placed))\n",
        "",
    ),
    _engine(
        "reconcile",
        "the number of children is not compared",
        "if count != len(popped.children):",
        "if count < len(popped.children):",
    ),
    _engine(
        "reconcile",
        "running pods are not validated",
        "            scheduled += forest.scheduled_pods(leaf.key).values()",
        "            pass",
    ),
    _engine(
        "world",
        "pods being deleted are tried",
        "if pod.deletion_timestamp is not None or self.is_placed(pod):",
        "if self.is_placed(pod):",
    ),
    _engine(
        "group_cycle",
        "a cycle without pods does not end in the queue",
        "            self.tools.queue.add_attempted(self.entity, SUCCESS)\n",
        "",
    ),
    _engine(
        "group_cycle",
        "what a refused root reserved meets the post-filter",
        "            session.revert(START)\n            rejected =",
        "            rejected =",
    ),
    _engine(
        "group_cycle",
        "a refusal is remembered under the renewed pods",
        "            self._memo_key()\n        pods = tools.submitter.submit(self._framework, ends, counted)",
        "            pass\n        pods = tools.submitter.submit(self._framework, ends, counted)\n"
        "        self._memo_key()",
    ),
    _engine(
        "memo",
        "a remembered refusal outlives a change of the world",
        "            if kept.grounds is None or not self._hold(kept.grounds, key):\n",
        "            if kept.grounds is not None and not self._hold(kept.grounds, key):\n",
    ),
    _engine(
        "memo",
        "a refusal lasts while its nodes fare alike, whoever runs there",
        " if framework.refusal_lasts(priority) else None\n",
        "\n",
    ),
    _engine(
        "memo", "new nodes are not seen before the next cycle", "            self.world.table.settle()", "            #"
    ),
    _engine(
        "column_watch",
        "another reason of a refusal is none",
        "                return ~(at + self._filters * why)\n",
        "                return ~at\n",
    ),
    _engine(
        "memo",
        "running pods are left out of the key",
        "group.topology_key, scheduled, len",
        "group.topology_key, 0, len",
    ),
    # --- debated choices --------------------------------------------------------------------------------------------
    _engine(
        "podgroup_algorithm",
        "the first pass fills a group beyond its minimum",
        "while remaining and not (self._minimal and verdict.code is _SUCCESS):",
        "while remaining:",
    ),
    _engine(
        "podgroup_algorithm",
        "the second pass leaves the placement of the first",
        "snapshot.enter(result.placement or snapshot.placement)",
        "snapshot.enter(snapshot.placement)",
    ),
    _engine(
        "child_order",
        "the smallest child comes last",
        "return (len(_pods(group, waiting)),)",
        "return (-len(_pods(group, waiting)),)",
    ),
    _engine("extra_pods", "a gang preempts before it has its minimum", " or not _satisfied(result.info, forest):", ":"),
    # --- refused again ----------------------------------------------------------------------------------------------
    _queue(
        "buckets",
        "the turn of a bucket in parts is had twice",
        "            stretches, rounds, last = self._now, rounds + 1, self.due\n",
        "            stretches, rounds, last = self._now, rounds, self.due\n",
    ),
    _queue("buckets", "turns that are skipped leave the clock", "        self.due += rounds * self.period\n", ""),
    # --- verdicts ---------------------------------------------------------------------------------------------------
    _engine(
        "complete",
        "a child that fits stands although its parent falls",
        "return parent if raw.ok else raw",
        "return raw",
    ),
    _engine(
        "complete",
        "a parent's error spares its children",
        "return raw if raw.code is Code.ERROR else parent",
        "return raw",
    ),
    _engine("complete", "the post-filter's reason is shown once", "*[reason] * sharers[id(status)]", "reason"),
    _engine(
        "complete",
        "a placed pod of a failed leaf keeps its nomination",
        "placed = Failure(status, NOMINATION_CLEARED)",
        "placed = Failure(status)",
    ),
    _engine(
        "submit",
        "old rejectors stay",
        "info.unschedulable_plugins, info.pending_plugins = told.unschedulable, told.pending",
        "info.unschedulable_plugins |= told.unschedulable\n        info.pending_plugins = told.pending",
    ),
    _engine(
        "submit",
        "an assigned pod is requeued",
        "        if current.node_name:\n            queue.done",
        "        if False:\n            queue.done",
    ),
    _engine(
        "submit", "a bound pod keeps its nomination", "            queue.nominator.delete(pod)\n", "            pass\n"
    ),
    _engine(
        "submit",
        "a condition goes to pods of another status",
        "        if told.shown is not old:\n",
        "        if told.shown is None:\n",
    ),
    _engine(
        "submit", "leaving victims are evicted twice", "if current is None or current.deleting:", "if current is None:"
    ),
    _engine(
        "submit",
        "a gate met on the way back is missing from the verdict",
        "if info.unschedulable_plugins is told.unschedulable:",
        "if True:",
    ),
    _engine(
        "submit",
        "a failure met again is told as of the first time",
        "last.failure is failure and last.time == now",
        "last.failure is failure",
    ),
    _engine(
        "submit",
        "a condition keeps the time of an equal failure",
        "            and last.time == now\n            and last.message == message\n",
        "            and last.message == message\n",
    ),
    _engine(
        "submit",
        "pods are bound together though one is nominated",
        " and not self.queue.nominator.node_of:\n",
        ":\n",
    ),
    _engine(
        "submit",
        "binding plugins see the placement that was tried",
        "        state.placement = None",
        "        pass",
    ),
    _engine("scheduler", "nobody hears of a binding", "if self._hears_of_bindings:", "if False:"),
    _engine(
        "scheduler",
        "a failed binding returns what a cycle under way has said",
        "self._outbox.take_after(before)",
        "self._outbox.take()",
    ),
    _engine(
        "submit",
        "a replaced pod is treated as the failed one",
        "if current is not pod and current.uid != pod.uid:",
        "if False:",
    ),
    _engine(
        "conditions",
        "a true condition falls back",
        '    if old is not None and old.status == "True":\n        return None\n',
        "",
    ),
    _engine(
        "conditions",
        "the transition time moves with the message",
        "if old.status == new.status else new",
        "if False else new",
    ),
    # --- columns ----------------------------------------------------------------------------------------------------
    _engine(
        "signature_column",
        "a column is not repaired when one row was touched",
        "            self._repair((log[start],))\n",
        "            pass\n",
    ),
    _engine(
        "signature_column",
        "a row that was refused stays refused",
        "            if total >= 0:  #",
        "            if total >= 0 and buffer[row] >= 0:  #",
    ),
    _engine(
        "signature_column",
        "only the first stale row is repaired",
        "                self._repair(stale)",
        "                self._repair((next(iter(stale)),))",
    ),
    _engine(
        "signature_column",
        "what a refused pod was promised is not given back",
        "        self._put(row, old)\n",
        "        pass\n",
    ),
    _engine(
        "signature_column",
        "every refusing plugin is named for a node",
        "                left = np.setdiff1d(left, np.concatenate([r for _, r in refused]), assume_unique=True)",
        "                left = view.rows",
    ),
    _engine(
        "columns",
        "a column outlives a change of its nodes",
        "known is None or (isinstance(known, SignatureColumn) and known.classes is not self.table.classes)",
        "known is None",
    ),
    _engine(
        "run_ahead",
        "a plan goes on although others came to the nodes",
        "            and len(log) + len(sums.noted) == self._position + 1\n",
        "",
    ),
    _engine(
        "row_facts",
        "what was read of a row is not forgotten when it is touched",
        "                known[row] = None\n",
        "                pass\n",
    ),
    _engine(
        "signature_column",
        "what was read with the pods of a plan counted in stays",
        "            facts.known[row] = None\n",
        "            pass\n",
    ),
    _engine("columns", "guards are not asked", "return column if column.usable() else None", "return column"),
    _engine("columns", "tolerations are left out of the signature", "        spec.tolerations,\n", ""),
    _engine("columns", "host ports are left out of the signature", "        spec.host_ports,\n", ""),
    _engine(
        "pod_algorithm",
        "of equal nodes the last is taken",
        "max(range(len(totals)), key=totals.__getitem__)",
        "max(reversed(range(len(totals))), key=totals.__getitem__)",
    ),
    _engine(
        "pod_algorithm",
        "the own nomination is not tried first",
        "        if own is not None:\n            return own\n",
        "",
    ),
    # --- what is put off until somebody looks -----------------------------------------------------------------------
    _queue(
        "unschedulable_entities",
        "an event does not find who was gated since the last one",
        "        self.enlist()\n        found:",
        "        found:",
    ),
    _queue(
        "entity_heap",
        "newcomers are overlooked",
        "        if newcomers:\n            if len(",
        "        if False:\n            if len(",
    ),
    _queue(
        "entities",
        "members are taken for sorted however they came",
        "if not are_in_order(infos):",
        "if False:",
    ),
    _queue(
        "entities",
        "a tree that comes back serves its old penalty",
        "        self.backoff_expiration = None\n",
        "",
    ),
)
