"""CSV of a table: its parameters, the analytical model's predictions, what was measured."""

import csv
import io
import math

from autotune.learn.table import Table


def to_csv(table: Table) -> str:
    """The table as text: a line for each repetition, the response in the last column.

    Columns of one value stand behind the parameters. The unit is in the title of the response
    (``time_s``). ``autotune.learn.readers.read`` gives the same rows and repetitions back; the
    domains are then what occurs. A response that is not the mean of its repetitions is written in
    their place. Categories that look like numbers are numbers again unless the reader is told
    (``--categorical``).
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [parameter.name for parameter in table.parameters]
    constants = dict(table.constants)
    guesses = table.inputs.analytical
    title = f"{table.quantity}_{table.unit}" if table.unit else table.quantity
    said = ["predicted_s" if table.unit == "s" else "predicted"] if guesses is not None else []
    writer.writerow([*names, *constants, *said, title])
    for i, row in enumerate(table.inputs.rows):
        guess = (
            [] if guesses is None else ["" if math.isnan(guesses[i]) else repr(float(guesses[i]))]
        )
        times = table.repetitions[i]
        if table.statistic == "as given":
            times = (float(table.response[i]),)
        for time in times:
            writer.writerow([*row, *constants.values(), *guess, repr(time)])
    return text.getvalue()
