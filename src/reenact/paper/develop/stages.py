"""The stages: data, method, experiment, each written, checked, mended; then one reading as a reviewer."""

from __future__ import annotations

from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.paper.develop import asking
from reenact.paper.develop.checks import Stage
from reenact.paper.develop.debug import debugged
from reenact.paper.develop.work import Work

REFACTOR_TRIES = 2
"""Attempts to mend what a refactoring broke: the version before it runs already."""


def staged(work: Work, stage: Stage, run: Scope) -> Work:
    """The version after a stage, whether it runs or not. Raises AnswerUnusable when nothing was written."""
    work = work.at(stage)
    work.shop.say(f"{stage}: write {', '.join(stage.new)}")
    project, assumed = asking.write(work, run)
    work = work.with_project(project, assumed, run)
    if work.brief.wishes.parts.debug:
        work = debugged(work, run, work.brief.wishes.tries)
    return work.seen


def learnt(work: Work, run: Scope) -> Work:
    """With the research role's new state; the old one when no usable answer came."""
    work.shop.say(f"{work.stage}: note what was learnt")
    try:
        return work.knowing(asking.learn(work, run))
    except AnswerUnusable:
        return work


def refactored(work: Work, run: Scope) -> Work | None:
    """The version after a reviewer's reading; none when it changed nothing or broke the run."""
    work = work.at(Stage.REFACTOR)
    work.shop.say("refactor: read as a reviewer")
    try:
        project, assumed = asking.refactor(work, run)
    except AnswerUnusable:
        return None
    if project.identity == work.project.identity:
        return None
    after = debugged(work.with_project(project, assumed, run), run, REFACTOR_TRIES)
    return after.seen if after.runs else None
