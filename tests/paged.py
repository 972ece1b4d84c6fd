"""What a report must be as a page, for tests."""

import re
from itertools import pairwise

TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)([^>]*?)(/?)>")


def check_tags(source):
    """Every tag is closed, ids are unique, and labels are there."""
    stack, ids = [], re.findall(r'\sid="([^"]*)"', source)
    for closes, tag, _, alone in TAG.findall(re.sub(r"<style>.*?</style>", "", source, flags=16)):
        if alone or tag in {"meta", "br", "input"}:
            continue
        if closes:
            assert stack.pop() == tag
        else:
            stack.append(tag)
    assert not stack
    assert len(ids) == len(set(ids))
    for label in re.findall(r'aria-labelledby="([^"]*)"', source):
        assert set(label.split()) <= set(ids)


def check_outline(source):
    """Every table has a caption, and headings go down by one."""
    assert source.count("<caption") == source.count("<table")
    levels = [int(level) for level in re.findall(r"<h([1-6])", source)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
