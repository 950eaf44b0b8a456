"""Values as JSON documents and back: each document keeps to the schema of its class."""

import json
import math
from functools import cache

import fabricated as fake
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from json_schema_check import faults
from sample_nodes import calibrated, documented

from autotune.domain.calibration import Constant
from autotune.domain.cost_curve import CostCurve, CurvePoint, Segment
from autotune.domain.network import Network
from autotune.domain.results import Measurement, Prediction, Sample, Uncertainty
from autotune.files import codec, config
from autotune.files.config.kinds import FILES
from autotune.files.json_schema import document_schema, file_schema
from autotune.files.store import Store
from autotune.files.store.records import StudyRecord
from autotune.files.store.store_rows import candidate_record

NETWORK = Network(
    title="a ring",
    curves=(
        CostCurve(
            operation="barrier", benchmark="osu", nodes=1, ranks=4, measured=(0, 0),
            segments=(Segment(lower=0, latency=1e-6),), points=(CurvePoint(0, 1e-6),),
        ),
    ),
)  # fmt: skip
VALUES = {
    "a documented machine": documented(),
    "a calibrated machine": calibrated(),
    "a shipped machine": config.machine("interlagos-6276"),
    "a network": NETWORK,
    "a prediction": fake.prediction(),
    "no prediction": fake.prediction(None),
    "an uncertain prediction": Prediction(
        seconds=1.0, interval=(0.5, 2.0), parts=(), engine="e", reason="r",
        uncertainty=Uncertainty(shared={"a": 0.1}, independent=0.2),
    ),
    "a sample": fake.sample(),
    "a measurement": Measurement(candidate="c", run="r", status="ok", samples=(fake.sample(),)),
    "a candidate": candidate_record(fake.candidate(), baseline=True),
    "a constant": Constant(value=1.0, low=0.5, high=2.0, unit="cy", source="s", samples=3),
}  # fmt: skip


@cache
def schema_of_class(kind):
    return document_schema("autotune.sample/1", kind)


def schema_of(value):
    return schema_of_class(type(value))


def document(value):
    """The document of a value as a reader of JSON gets it."""
    plain = json.loads(json.dumps(codec.document(value), allow_nan=False))
    return {"schema": "autotune.sample/1", **plain}


@pytest.mark.parametrize("name", list(VALUES))
def test_a_document_keeps_to_the_schema_of_its_class(name):
    assert faults(schema_of(VALUES[name]), document(VALUES[name])) == []


@pytest.mark.parametrize("name", list(VALUES))
def test_a_stored_text_gives_back_the_value(name):
    value = VALUES[name]
    assert codec.load(type(value), codec.dump(value)) == value
    assert codec.dump(codec.load(type(value), codec.dump(value))) == codec.dump(value)


@pytest.mark.parametrize("name", list(VALUES))
def test_a_key_more_or_less_is_not_of_the_schema(name):
    schema, whole = schema_of(VALUES[name]), document(VALUES[name])
    assert faults(schema, {**whole, "more": 1}) == [": unknown key 'more'"]
    for key in whole.keys() - {"schema"}:
        rest = {other: value for other, value in whole.items() if other != key}
        assert f"top: no key {key!r}" in faults(schema, rest)


def test_a_whole_study_keeps_to_its_schema_and_comes_back(tmp_path):
    with Store.open(tmp_path / "s.sqlite") as store:
        fake.fill(store, sizes=(256,), rounds=1)
        study = store.load_study("quick")
    assert faults(schema_of(study), document(study)) == []
    assert codec.load(StudyRecord, codec.dump(study)) == study


def test_numbers_that_json_does_not_have_are_null_in_a_document_alone():
    assert codec.document({"a": math.inf, "b": math.nan, "c": [1.5]}) == {
        "a": None, "b": None, "c": [1.5],
    }  # fmt: skip
    assert codec.load(float, codec.dump(math.inf)) == math.inf


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Sample, "[]"), (Sample, "{}"), (Sample, '{"seconds": 1, "unknown": 2}'),
        (Network, '{"title": "", "curves": [5]}'), (Prediction, "null"), (Sample, "{"),
    ],
)  # fmt: skip
def test_a_stored_text_that_is_no_value_is_a_value_error(kind, text):
    with pytest.raises(ValueError, match=r"."):
        codec.load(kind, text)


def test_what_a_class_refuses_is_refused_when_it_is_read_too():
    text = codec.dump(fake.sample()).replace('"seconds":0.001', '"seconds":-1')
    with pytest.raises(ValueError, match="a sample must be a positive time, not -1"):
        codec.load(Sample, text)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=25)
@given(
    seconds=st.floats(1e-9, 1e9),
    conditions=st.dictionaries(
        st.text(max_size=5), st.integers(-(2**53), 2**53) | st.text(max_size=5), max_size=3
    ),
    stage=st.none() | st.sampled_from(["first", "final"]),
)
def test_any_sample_is_a_document_and_comes_back(seconds, conditions, stage):
    known = {**conditions, **({"stage": stage} if stage else {})}
    sample = fake.sample(seconds, conditions=known)
    assert faults(schema_of(sample), document(sample)) == []
    assert codec.load(Sample, codec.dump(sample)) == sample
    assert codec.read(Sample, codec.columns(sample)) == sample


@pytest.fixture(scope="module")
def study_schema():
    return file_schema("autotune.config/1", FILES["autotune.config/1"])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"threads": 5}, "threads"), ({"space": ""}, "space"), ({"space": 5}, "space"),
        ({"placement": "spread"}, "placement"), ({"layouts": []}, "layouts"),
    ],
)  # fmt: skip
def test_a_key_that_may_be_null_may_not_be_anything(study_schema, change, fault):
    base = {
        "schema": "autotune.config/1", "machine": "host",
        "problems": [{"ivp": "heat2d", "method": "radau-iia-7", "size": 9}],
    }  # fmt: skip
    assert faults(study_schema, {**base, **dict.fromkeys(change)}) == []
    assert any(fault in text for text in faults(study_schema, {**base, **change}))
