"""Anything in any order: the states are those of a simple model, and only approved bytes run.

Two people share a project that has an outer and an inner scope, and each has a user scope of
their own. Ann runs two programs, which stand for two processes; Ben runs one. Everything
that can happen to a bundle happens to theirs. A fresh look must always agree with the model.
A program that has not looked may lag behind, but whatever it runs, the person for whom it
runs has approved, byte for byte.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from attrs import define, evolve, field, frozen
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lionplug import Host
from lionplug.activation.namespace import package_name
from lionplug.errors import CapabilityNotFoundError, ManifestError, PluginNotFoundError
from lionplug.files.removing import remove_tree
from lionplug.host import approvals
from lionplug.inventory import states
from tests.support import World, write

# The ordinary suite plays the same sequences everywhere, so that a change is refused for
# what it does and never for another's luck. The long run plays new ones each time, and
# prints what plays a failure again. Neither has a deadline: approvals wait for the disk.
_COMMON = settings(
    deadline=None,
    stateful_step_count=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "states", _COMMON, max_examples=200, derandomize=True, database=None, print_blob=False
)
settings.register_profile(
    "states-long",
    _COMMON,
    max_examples=2_000,
    stateful_step_count=30,
    derandomize=False,
    print_blob=True,
)

PEOPLE = ("ann", "ben")
PROGRAMS = ("ann", "ben", "ann")
OBSERVER = 2  # looks after every step; the others look only when told to
RANKS = {"ann": 0, "ben": 0, "outer": 1, "inner": 2}
NAMES = ("alpha", "beta")
TOOLS = (*NAMES, "shared")
DIRECTORIES = ("one", "two")

TOOL = """
from pathlib import Path

from . import helper

CODE = {code}


def run():
    root = Path(__plugin_root__)
    files = sorted(path.name for path in root.iterdir())
    return __package__, CODE, helper.CODE, (root / "plugin.yaml").read_text(), files
"""


# -- the model -----------------------------------------------------------------------------


class Slot(NamedTuple):
    """A place where a copy can lie: a directory of one scope."""

    scope: str
    directory: str


SLOTS = [Slot(scope, directory) for scope in RANKS for directory in DIRECTORIES]


@frozen
class Content:
    """Everything in a bundle: what it is called, and what its tool tells of itself."""

    name: str
    code: int = 0
    helper: int = 0
    comment: int = 0
    shares: bool = False
    stray: bool = False
    broken: bool = False

    @property
    def manifest(self) -> str:
        if self.broken:
            return "name: [\n"
        lines = [
            f"name: {self.name}",
            "version: 1.0.0",
            "lionplug: '>=0'",
            f"# comment {self.comment}",
            "capabilities:",
            "  tools:",
            *(f"    - {{name: {tool}, target: 'tool.py:run'}}" for tool in self.tools),
        ]
        return "\n".join(lines) + "\n"

    @property
    def tools(self) -> tuple[str, ...]:
        return (self.name, "shared") if self.shares else (self.name,)

    @property
    def files(self) -> dict[str, str]:
        files = {
            "plugin.yaml": self.manifest,
            "tool.py": TOOL.format(code=self.code),
            "helper.py": f"CODE = {self.helper}\n",
        }
        return {**files, "stray.txt": "stray\n"} if self.stray else files

    @property
    def told(self) -> tuple[Any, ...]:
        return self.code, self.helper, self.manifest, sorted(self.files)


class Approval(NamedTuple):
    """What a person approved in a slot, and the package that its modules must have."""

    content: Content
    package: str


@define
class Person:
    """What one person decided."""

    approvals: dict[Slot, Approval] = field(factory=dict)
    disabled: set[tuple[str, Slot]] = field(factory=set)

    def in_force(self) -> Iterator[tuple[Slot, Approval]]:
        for slot, approval in self.approvals.items():
            if (approval.content.name, slot) not in self.disabled:
                yield slot, approval


def sees(person: str, slot: Slot) -> bool:
    return slot.scope == person or slot.scope not in PEOPLE


@define
class Model:
    """All copies and all people."""

    copies: dict[Slot, Content] = field(factory=dict)
    people: dict[str, Person] = field(factory=lambda: {name: Person() for name in PEOPLE})

    def states(self, person: str) -> dict[Slot, str]:
        """Return the state of every copy that somebody sees."""
        found = {
            slot: _state(slot, content, self.people[person])
            for slot, content in self.copies.items()
            if sees(person, slot)
        }
        eligible: dict[str, list[Slot]] = defaultdict(list)
        for slot, state in found.items():
            if state == states.ACTIVE:
                eligible[self.copies[slot].name].append(slot)
        for slots in eligible.values():
            nearest = max(RANKS[slot.scope] for slot in slots)
            winners = [slot for slot in slots if RANKS[slot.scope] == nearest]
            for slot in slots:
                if slot not in winners:
                    found[slot] = states.SHADOWED
                elif len(winners) > 1:
                    found[slot] = states.COLLISION
        return found

    def answers(self, person: str) -> dict[str, Approval]:
        """Return who answers for each tool; one that two plugins declare has no answer."""
        offers: dict[str, list[Approval]] = defaultdict(list)
        for slot, state in self.states(person).items():
            if state == states.ACTIVE:
                for tool in self.copies[slot].tools:
                    offers[tool].append(self.people[person].approvals[slot])
        return {tool: found[0] for tool, found in offers.items() if len(found) == 1}

    def may_run(self, person: str) -> list[Approval]:
        """Return what may run in a program that has not looked.

        A copy whose manifest or called file is another by now may not: each call sees that.
        """
        return [
            approval
            for slot, approval in self.people[person].in_force()
            if slot in self.copies
            and self.copies[slot].manifest == approval.content.manifest
            and self.copies[slot].code == approval.content.code
        ]


def _state(slot: Slot, content: Content, person: Person) -> str:
    """Return the state that a copy has for itself, whatever others there are."""
    if content.broken:
        return states.INVALID
    if (content.name, slot) in person.disabled:
        return states.DISABLED
    approval = person.approvals.get(slot)
    if approval is None:
        return states.UNTRUSTED
    return states.ACTIVE if approval.content == content else states.CHANGED


# -- the machine ---------------------------------------------------------------------------


class Program:
    """A host, and how much it can know.

    :ivar blind: Files changed since it last looked at them; a new one compares manifests only.
    :ivar behind: Somebody else wrote to its approvals since it last read them.
    """

    def __init__(self, person: str, user_dir: Path) -> None:
        self.person = person
        self.host = Host("lionplug", version="1.0.0", user_dir=str(user_dir))
        self.blind = True
        self.behind = False

    @property
    def knows_all(self) -> bool:
        return not self.blind and not self.behind


# More of one name than of the other: copies that compete are what is of interest.
CONTENTS = st.builds(Content, st.sampled_from(["alpha", "alpha", "beta"]), shares=st.booleans())
CHANGES = st.sampled_from(
    [
        *({"code": number} for number in range(3)),  # a file that is declared
        *({"helper": number} for number in range(3)),  # one that is not
        *({"comment": number} for number in range(3)),  # what a manifest says to nobody
        *({"shares": value} for value in (False, True)),  # a capability
        *({"stray": value} for value in (False, True)),  # a file more, or less
        *({"broken": value} for value in (False, True)),
        *({"name": name} for name in NAMES),
    ]
)
programs = st.sampled_from(range(len(PROGRAMS)))
approvers = st.none() | programs


class Bundles(RuleBasedStateMachine):
    """Does everything that can be done to bundles; see the rules."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self.model = Model()
        self.away: list[tuple[Slot, Path, Content]] = []
        self._numbers = count(1)
        self._turns = count()
        inner = root / "project" / "inner"
        for folder in (*(root / name for name in PEOPLE), inner, root / "project" / ".git"):
            folder.mkdir(parents=True, mode=0o700)
        for scope in RANKS:
            self.plugins(scope).mkdir(parents=True)
        os.chdir(inner)
        self.programs = [Program(person, root / person) for person in PROGRAMS]

    def teardown(self) -> None:
        for program in self.programs:
            program.host.close()
        os.chdir("/")
        remove_tree(str(self.root))

    # -- files ---------------------------------------------------------------------------

    @initialize(contents=st.lists(CONTENTS, min_size=2, max_size=3), data=st.data())
    def begin(self, contents: list[Content], data: st.DataObject) -> None:
        for content in contents:
            self.put(data, content, approver=0)

    @precondition(lambda self: self.roomy)
    @rule(data=st.data(), content=CONTENTS, approver=approvers)
    def copy_in(self, data: st.DataObject, content: Content, approver: int | None) -> None:
        self.put(data, content, approver)

    @precondition(lambda self: self.roomy and self.model.copies)
    @rule(data=st.data(), approver=approvers)
    def copy_to_another_place(self, data: st.DataObject, approver: int | None) -> None:
        self.put(data, self.model.copies[self.draw_copy(data)], approver)

    @precondition(lambda self: self.model.copies)
    @rule(data=st.data(), change=CHANGES, approver=approvers)
    def edit(self, data: st.DataObject, change: dict[str, Any], approver: int | None) -> None:
        """Edit a copy that somebody approved, or if there is none, any; maybe approve it then."""
        approved = {slot for person in self.model.people.values() for slot in person.approvals}
        found = sorted(approved & self.model.copies.keys()) or sorted(self.model.copies)
        slot = data.draw(st.sampled_from(found), "copy")
        self.change(slot, change)
        content = self.model.copies[slot]
        if approver is not None and not content.broken:
            program = self.programs[approver]
            if sees(program.person, slot):
                self.approve_for(program, slot, content)

    @precondition(lambda self: self.model.copies)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        slot = self.draw_copy(data)
        place = self.root / "away" / str(next(self._numbers))
        place.parent.mkdir(exist_ok=True)
        self.path(slot).rename(place)
        self.away.append((slot, place, self.model.copies.pop(slot)))
        self.files_changed(slot)

    @precondition(lambda self: self.restorable)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        entry = data.draw(st.sampled_from(self.restorable), "from")
        self.away.remove(entry)
        slot, place, content = entry
        place.rename(self.path(slot))
        self.model.copies[slot] = content
        self.files_changed(slot)

    @precondition(lambda self: self.free and self.model.copies)
    @rule(data=st.data())
    def rename(self, data: st.DataObject) -> None:
        old = self.draw_copy(data)
        new = data.draw(st.sampled_from(self.free), "to")
        self.path(old).rename(self.path(new))
        self.model.copies[new] = self.model.copies.pop(old)
        self.files_changed(old)
        self.files_changed(new)

    # -- decisions -----------------------------------------------------------------------

    @precondition(lambda self: self.model.copies)
    @rule(data=st.data(), number=programs, meanwhile=st.none() | CHANGES)
    def approve(self, data: st.DataObject, number: int, meanwhile: dict[str, Any] | None) -> None:
        """Approve a copy, rather one that needs it; it may be edited meanwhile."""
        program = self.programs[number]
        found = self.model.states(program.person)
        waiting = [slot for slot in found if found[slot] in states.NEED_ATTENTION]
        if not found:
            return
        slot = data.draw(st.sampled_from(sorted(waiting or found)), "copy")
        shown = self.model.copies[slot]
        if shown.broken:
            with pytest.raises((ManifestError, PluginNotFoundError)):
                program.host.trust(str(self.path(slot)), approve=lambda disclosure: True)
            return
        self.approve_for(program, slot, shown, meanwhile)

    @precondition(lambda self: any(person.approvals for person in self.model.people.values()))
    @rule(data=st.data(), number=programs)
    def revoke(self, data: st.DataObject, number: int) -> None:
        program = self.programs[number]
        person = self.model.people[program.person]
        if person.approvals:
            slot = data.draw(st.sampled_from(sorted(person.approvals)), "approval")
            program.host.revoke(str(self.path(slot)))
            del person.approvals[slot]
            self.decided(program)

    @precondition(lambda self: self.model.copies)
    @rule(data=st.data(), number=programs, value=st.booleans())
    def switch(self, data: st.DataObject, number: int, value: bool) -> None:
        program = self.programs[number]
        slot = self.draw_copy(data, program)
        if slot not in self.model.copies:
            return
        content = self.model.copies[slot]
        key = (slot.directory if content.broken else content.name, slot)
        host, location = program.host, str(self.path(slot))
        plugin = self.acted(program, lambda: (host.disable if value else host.enable)(location))
        disabled = self.model.people[program.person].disabled
        (disabled.add if value else disabled.discard)(key)
        self.decided(program)
        self.check_state(program, slot, plugin.state)

    @rule(number=programs)
    def prune(self, number: int) -> None:
        program = self.programs[number]
        found = self.model.people[program.person].approvals
        gone = {slot for slot in found if slot not in self.model.copies}
        pruned = program.host.prune()
        assert {record.location for record in pruned} == {str(self.path(slot)) for slot in gone}
        for slot in gone:
            del found[slot]
        if gone:
            self.decided(program)

    # -- looking and calling -------------------------------------------------------------

    @rule(number=programs)
    def refresh(self, number: int) -> None:
        self.look_and_call(self.programs[number])

    @rule(number=programs)
    def start_again(self, number: int) -> None:
        old = self.programs[number]
        old.host.close()
        self.programs[number] = Program(old.person, self.root / old.person)

    @rule(number=programs)
    def call(self, number: int) -> None:
        for tool in TOOLS:
            self.call_tool(self.programs[number], tool)

    @invariant()
    def who_looks_sees_what_the_model_says(self) -> None:
        program = self.programs[OBSERVER]
        if not program.knows_all:
            self.look_and_call(program)

    @invariant()
    def who_does_not_look_runs_nothing_else(self) -> None:
        turn = next(self._turns)
        behind = [program for program in self.programs if program.behind]
        program = behind[0] if behind else self.programs[turn % OBSERVER]
        held = self.model.people[program.person].approvals.values()
        names = NAMES if behind else sorted({one.content.name for one in held})
        if names:
            self.call_tool(program, names[turn % len(names)])

    # -- means ---------------------------------------------------------------------------

    @property
    def free(self) -> list[Slot]:
        return [slot for slot in SLOTS if slot not in self.model.copies]

    @property
    def roomy(self) -> bool:
        return len(self.model.copies) < 5

    @property
    def restorable(self) -> list[tuple[Slot, Path, Content]]:
        return [entry for entry in self.away if entry[0] not in self.model.copies]

    def draw_copy(self, data: st.DataObject, program: Program | None = None) -> Slot:
        """Draw a copy that a program sees; without any, a slot that holds none."""
        found = [
            slot
            for slot in sorted(self.model.copies)
            if program is None or sees(program.person, slot)
        ]
        return data.draw(st.sampled_from(found or self.free), "copy")

    def plugins(self, scope: str) -> Path:
        folders = {
            "outer": self.root / "project" / ".lionplug",
            "inner": self.root / "project" / "inner" / ".lionplug",
        }
        return folders.get(scope, self.root / scope) / "plugins"

    def path(self, slot: Slot) -> Path:
        return self.plugins(slot.scope) / slot.directory

    def put(self, data: st.DataObject, content: Content, approver: int | None) -> None:
        """Write a copy to a free slot, and approve it if there is somebody who does."""
        program = None if approver is None else self.programs[approver]
        free = [slot for slot in self.free if program is None or sees(program.person, slot)]
        slot = data.draw(st.sampled_from(free), "to")
        self.path(slot).mkdir()
        self.write_files(slot, content.files)
        self.model.copies[slot] = content
        self.files_changed(slot)
        if program is not None and not content.broken:
            self.approve_for(program, slot, content)

    def change(self, slot: Slot, change: dict[str, Any]) -> None:
        old = self.model.copies[slot]
        new = evolve(old, **change)
        self.write_files(
            slot, {name: text for name, text in new.files.items() if old.files.get(name) != text}
        )
        for name in old.files.keys() - new.files.keys():
            (self.path(slot) / name).unlink()
        self.model.copies[slot] = new
        self.files_changed(slot)

    def write_files(self, slot: Slot, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = write(self.path(slot) / name, text)
            # Steps follow one another faster than the clock of a file system ticks.
            os.utime(path, ns=(0, 10**18 + next(self._numbers)))

    def files_changed(self, slot: Slot) -> None:
        for program in self.programs:
            if sees(program.person, slot):
                program.blind = True

    def decided(self, program: Program) -> None:
        for other in self.programs:
            if other.person == program.person:
                other.behind = other is not program

    def approve_for(
        self,
        program: Program,
        slot: Slot,
        shown: Content,
        meanwhile: dict[str, Any] | None = None,
    ) -> None:
        def answer(disclosure: object) -> bool:
            if meanwhile is not None:
                self.change(slot, meanwhile)
            return True

        host, location = program.host, str(self.path(slot))
        plugin = self.acted(program, lambda: host.trust(location, approve=answer))
        assert plugin.record is not None
        package = package_name(
            shown.name, str(self.root / program.person), location, plugin.record.tree
        )
        self.model.people[program.person].approvals[slot] = Approval(shown, package)
        self.decided(program)
        self.check_state(program, slot, plugin.state)

    def acted(self, program: Program, act: Callable[[], Any]) -> Any:
        """Do something to a copy that a program may not have met yet."""
        try:
            return act()
        except PluginNotFoundError:
            assert program.blind
        self.look(program)
        return act()

    def check_state(self, program: Program, slot: Slot, state: str) -> None:
        if program.knows_all:
            assert state == self.model.states(program.person)[slot]

    def look(self, program: Program) -> None:
        """Look at everything; states and tools are the model's."""
        host, person = program.host, program.person
        host.plugins.refresh()
        program.blind = program.behind = False
        assert {plugin.location: plugin.state for plugin in host.plugins} == {
            str(self.path(slot)): state for slot, state in self.model.states(person).items()
        }
        assert {tool.name for tool in host.tools} == self.model.answers(person).keys()

    def look_and_call(self, program: Program) -> None:
        self.look(program)
        for tool in sorted(self.model.answers(program.person)):
            self.call_tool(program, tool)

    def call_tool(self, program: Program, tool: str) -> None:
        """Call a tool; what runs is what the model says, or at the least what may run."""
        expected = self.model.answers(program.person).get(tool)
        allowed = [expected] if program.knows_all else [*self.model.may_run(program.person), None]
        program.behind = False  # a call reads what others decided
        try:
            package, *told = program.host.tools.call(tool)
        except CapabilityNotFoundError:
            assert None in allowed, f"{tool} is not answered: {expected}"
        else:
            ran = [one for one in allowed if one is not None and one.package == package]
            assert len(ran) == 1, f"{package} ran {told}; {allowed}"
            assert tuple(told) == ran[0].content.told


def play(profile: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No helper processes: they would read what is the same everywhere here. And nobody cuts
    # the power.
    monkeypatch.setattr(approvals, "signatures_of", lambda staged: {})
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.chdir(root)
    numbers = count()

    class Story(Bundles):
        def __init__(self) -> None:
            super().__init__(root / str(next(numbers)))

    run_state_machine_as_test(Story, settings=settings.get_profile(profile))


def test_only_approved_bytes_run_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play("states", tmp_path, monkeypatch)


@pytest.mark.long
def test_only_approved_bytes_run_in_two_thousand_stories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play("states-long", tmp_path, monkeypatch)


# -- what was found by it ------------------------------------------------------------------

REST = "version: 1.0.0\nlionplug: '>=0'\n"


def test_a_changed_copy_that_is_enabled_displaces_no_other(world: World) -> None:
    host = world.host()
    for directory in ("one", "two"):
        bundle = world.bundle(directory, manifest="name: alpha\n" + REST)
        host.plugins.refresh()
        host.trust(str(bundle), approve=lambda disclosure: True)
    write(bundle / "notes.txt", "undeclared")
    host.plugins.refresh()
    assert [plugin.state for plugin in host.plugins] == ["active", "changed"]
    assert host.enable(str(bundle)).state == "changed"
    assert [plugin.state for plugin in host.plugins] == ["active", "changed"]


def test_what_is_disabled_is_what_lies_there_now(world: World) -> None:
    bundle = world.bundle("one")
    host = world.host()
    assert host.plugins["one"].state == "untrusted"
    write(bundle / "plugin.yaml", "name: beta\n" + REST)
    plugin = host.disable(str(bundle))
    assert (plugin.name, plugin.state) == ("beta", "disabled")
