"""Two walks over directed graphs, without recursion, so that no graph is too deep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def postorder(roots: Iterable[N], targets: Callable[[N], Iterable[N]]) -> list[N]:
    """Return all nodes that are reached, each after those it leads to (but for cycles)."""
    order: list[N] = []
    seen: set[N] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(targets(root)))]
        while path:
            node, waiting = path[-1]
            for target in waiting:
                if target not in seen:
                    seen.add(target)
                    path.append((target, iter(targets(target))))
                    break
            else:
                order.append(node)
                path.pop()
    return order


def components(nodes: Iterable[N], targets: Callable[[N], Iterable[N]]) -> dict[N, int]:
    """Number the strongly connected components (Kosaraju's algorithm)."""
    order = postorder(nodes, targets)
    sources: dict[N, list[N]] = {node: [] for node in order}
    for node in order:
        for target in targets(node):
            sources[target].append(node)
    component: dict[N, int] = {}
    number = 0
    for root in reversed(order):
        if root in component:
            continue
        members = postorder(
            [root], lambda node: [one for one in sources[node] if one not in component]
        )
        component.update(dict.fromkeys(members, number))
        number += 1
    return component
