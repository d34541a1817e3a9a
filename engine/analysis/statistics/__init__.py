"""Item analysis: the statistics of a class's scores. Pure: arrays and frozen values in, frozen values out."""

from engine.analysis.classical import ItemStatistics, item_statistics
from engine.analysis.distractors import Choice, ChoiceTable, choice_table
from engine.analysis.histogram import Histogram, score_histogram
from engine.analysis.intervals import benjamini_hochberg, correlation_interval, wilson
from engine.analysis.pairs import Pairs, pairwise
from engine.analysis.reliability import Reliability, reliability
from engine.analysis.scores import ScoreMatrix
from engine.analysis.trend import NoTrend, Trend, difficulty_trend
from engine.analysis.variants import VariantShare, VariantTest, unequal_families, unequal_variants

__all__ = [
    "Choice",
    "ChoiceTable",
    "Histogram",
    "ItemStatistics",
    "NoTrend",
    "Pairs",
    "Reliability",
    "ScoreMatrix",
    "Trend",
    "VariantShare",
    "VariantTest",
    "benjamini_hochberg",
    "choice_table",
    "correlation_interval",
    "difficulty_trend",
    "item_statistics",
    "pairwise",
    "reliability",
    "score_histogram",
    "unequal_families",
    "unequal_variants",
    "wilson",
]
