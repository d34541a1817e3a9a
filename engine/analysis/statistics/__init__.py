"""The statistics of a class's scores. Pure: arrays and frozen values in, frozen values out."""

from __future__ import annotations

from engine.analysis.statistics.classical import (
    ChoiceTable,
    ItemStatistics,
    OptionStatistics,
    choice_table,
    item_statistics,
)
from engine.analysis.statistics.intervals import benjamini_hochberg, correlation_interval, wilson
from engine.analysis.statistics.reliability import ItemPairs, ReliabilityEstimate, pairwise, reliability
from engine.analysis.statistics.score_matrix import ScoreHistogram, ScoreMatrix, score_histogram
from engine.analysis.statistics.variant_difficulty import (
    LogisticTrend,
    NoTrend,
    VariantShare,
    VariantTest,
    difficulty_trend,
    unequal_families,
    unequal_variants,
)

__all__ = [
    "ChoiceTable", "ItemPairs", "ItemStatistics", "LogisticTrend", "NoTrend", "OptionStatistics",
    "ReliabilityEstimate", "ScoreHistogram", "ScoreMatrix", "VariantShare", "VariantTest",
    "benjamini_hochberg", "choice_table", "correlation_interval", "difficulty_trend", "item_statistics",
    "pairwise", "reliability", "score_histogram", "unequal_families", "unequal_variants", "wilson",
]  # fmt: skip
