"""Marks what is stored again, after an item was corrected."""

from engine.regrade.apply import apply_plan
from engine.regrade.changes import Change, RegradePlan, Rekeyed, Undecided
from engine.regrade.plan import Scope, plan_regrade

__all__ = ["Change", "RegradePlan", "Rekeyed", "Scope", "Undecided", "apply_plan", "plan_regrade"]
