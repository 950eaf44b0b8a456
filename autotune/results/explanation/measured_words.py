"""What was measured of two candidates whose predictions are compared, and whether both agree."""

from autotune.domain.results import Prediction
from autotune.results.evaluate.comparable import ComparableRun
from autotune.results.explanation.explained import Agreement, MeasuredPair
from autotune.results.explanation.reasons import alike, pair
from autotune.results.report.number_words import percent, ratio


def measured_pair(
    run: ComparableRun,
    origin: tuple[str, str],
    names: tuple[str, str],
    predictions: tuple[Prediction, Prediction],
) -> MeasuredPair | None:
    """What a run says of two candidates with these identities; None where it does not compare them.

    ``origin``: the study and the start of the run.
    """
    first, second = names
    if first not in run.times or second not in run.times:
        return None
    interval = run.ratio(first, second) if second in run.rounds else None
    if second not in run.rounds and first in run.rounds and (turned := run.ratio(second, first)):
        interval = _inverted(turned)
    quotient = run.times[first] / run.times[second]
    agreement: Agreement = "open"
    a, b = (prediction.seconds for prediction in predictions)
    clear = interval is not None and not interval[0] <= 1 <= interval[1]
    if clear and a and b and not alike(a, b):
        agreement = "agrees" if (a > b) == (quotient > 1) else "contradicts"
    return MeasuredPair(
        study=origin[0],
        started=origin[1],
        seconds=run.times[first],
        seconds_against=run.times[second],
        interval=interval,
        noise=run.level.noise,
        prediction=agreement,
    )


def sentences(measured: MeasuredPair, first: str, second: str) -> list[str]:
    """The measurement in words, then what it says of the prediction."""
    quotient, interval = measured.seconds / measured.seconds_against, measured.interval
    word = "slower"
    if quotient < 1:
        word, quotient, interval = "faster", 1 / quotient, interval and _inverted(interval)
    verdict = f"{first} is {ratio(quotient)} x {word} than {second}"
    span = "fewer than three common rounds, so that no interval is known"
    if interval is not None:
        span = f"90 % interval of this run {ratio(interval[0])} to {ratio(interval[1])}"
        if interval[0] <= 1 <= interval[1]:
            verdict = f"{first} and {second} are not told apart"
    times = " against ".join(pair(measured.seconds, measured.seconds_against))
    return [
        f"Measured: {verdict} ({times}; {span}; launches of a round differ by"
        f" {percent(measured.noise)}; study {measured.study},"
        f" {measured.started[:16].replace('T', ' ')} UTC).",
        _VERDICTS[measured.prediction],
    ]


def _inverted(interval: tuple[float, float]) -> tuple[float, float]:
    return 1 / interval[1], 1 / interval[0]


_VERDICTS: dict[Agreement, str] = {
    "agrees": "The prediction has the same one faster.",
    "contradicts": (
        "The measurement contradicts the prediction, which has the other one faster: go by the"
        " measurement. What follows says why the prediction is as it is."
    ),
    "open": "The measurement neither confirms nor contradicts the prediction.",
}
