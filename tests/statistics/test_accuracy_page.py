"""The page of the accuracy benchmark: its numbers, its structure, no network."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("accuracy_points")


@pytest.fixture
def page(points: ModuleType) -> ModuleType:
    return importlib.import_module("accuracy_page")


def term(points: ModuleType, name: str, group: str, predicted: float, measured: float):
    return points.Term(name=name, group=group, predicted=predicted, measured=measured, step=1.0)


def test_a_panel_per_term_and_a_cloud_per_regime(points) -> None:
    terms = [
        term(points, "RHS", "cache T1", 0.5, 0.4),
        term(points, "RHS", "memory T2", 0.7, 0.6),
        term(points, "LC", "cache T1", 0.5, 0.6),
        term(points, "update", "cache T1", 0.1, 0.001),
    ]
    panels = points.term_panels(terms)
    assert [panel.title for panel in panels] == ["RHS", "LC"]
    assert [cloud.name for cloud in panels[0].clouds] == ["cache", "memory"]
    assert panels[0].clouds[1].measured == (0.6,)


def test_points_on_one_another_are_drawn_once_and_counted(points) -> None:
    terms = [term(points, "LC", "cache T1", p, 0.5) for p in (0.5, 0.5001, 0.9, 0.0)]
    (cloud,) = points.term_panels(terms)[0].clouds
    assert (len(cloud.predicted), cloud.count) == (2, 3)


def test_the_page_stands_alone(points, page) -> None:
    panels = points.term_panels([term(points, "RHS + LC", "cache T1", 0.5, 0.4)])
    text = page.page(panels, panels, "share < 1 %")
    assert text.count("<svg") == 2
    assert "share &lt; 1 %" in text
    assert "RHS + LC" in text
    assert not re.search(r'(src|href)="http|<script|<link', text)


def test_without_phases_the_page_has_cells_alone(points, page) -> None:
    panels = points.term_panels([term(points, "LC", "memory T1", 0.5, 0.4)])
    assert page.page(panels, [], "").count("<svg") == 1
