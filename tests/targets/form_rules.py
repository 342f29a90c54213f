"""From outcomes of variants (variants.py) to the fewest conditions that tell which forms of an operator fail: each holds for failing ones only."""
import itertools

MOST = 3  # conditions of one rule


def simple(feature):
    """How plainly a condition speaks: of rules that explain as much, the plainer is taken."""
    order = ("attr", "in 0 made-by", "axis", "in 0 rank =", "in 0 rank", "check", "out 0 rank", "not attr", "not axis", "in 1 rank", "pads-axis", "in", "out", "since", "not")
    return next(i for i, start in enumerate(order) if feature.startswith(start))


def rules_of(tried):
    """tried: (features, fails) of one operator. Yields conjunctions, and at the end those failing variants that none explains."""
    least = 2 if len(tried) > 12 else 1  # where little was tried, one failing form is all there is
    failing = [frozenset(f) for f, fails in tried if fails]
    passing = [frozenset(f) for f, fails in tried if not fails]
    if not failing:
        return [], []
    if not passing:
        return [()], []
    rules, left = [], list(failing)
    found = {}
    for features in dict.fromkeys(failing):
        for n in range(1, MOST + 1):
            for rule in itertools.combinations(sorted(features), n):
                if rule in found or any(frozenset(r) < frozenset(rule) for r in _inside(rule, found)):
                    continue
                wanted = frozenset(rule)
                if not any(wanted <= p for p in passing):
                    found[rule] = [f for f in failing if wanted <= f]
    while left:
        best = max(found, key=lambda r: (sum(f in set(left) for f in found[r]), -len(r), -sum(map(simple, r)), r), default=None)
        if best is None:
            break
        covered = [f for f in left if f in set(found[best])]
        if len(covered) < least and len(failing) >= least:
            break
        if not covered:
            break
        rules.append(best)
        left = [f for f in left if f not in set(covered)]
    return rules, left


def _inside(rule, found):
    for n in range(1, len(rule)):
        for part in itertools.combinations(rule, n):
            if part in found:
                yield part
