"""``autotune scale``: which size keeps the time on more processors."""

from autotune.commands.options import command
from autotune.commands.output import document, note, say
from autotune.commands.scale.scale_options import ScaleOptions

EXAMPLE = (
    "Example: autotune scale runs.csv --processors ranks --size 'nx*ny*nz' --time time_s"
    " --to 2048 --keep '100 s'"
)


@command
def scale(options: ScaleOptions) -> None:
    """Find the size that keeps the time on more processors.

    Regressions of log2 T on log2 P and log2 SIZE after Garren (2010), inverted, with prediction
    intervals. Every method is back-tested: it forecasts the runs with the most processors from the
    runs on fewer. Trust the error of that test, not the fit. It widens the intervals on more
    processors and determines the recommended method. Forecasts on more processors than were run are
    extrapolations and are marked so.
    """
    from autotune.commands.scale import document as scale_document
    from autotune.commands.scale import flow, text
    from autotune.results.page import frame, page_file

    if options.page is not None:
        page_file.check(options.page)
    answers = flow.scale(options.file, options.request())
    if options.json:
        regions = tuple(scale_document.region(answer) for answer in answers)
        document(scale_document.ScaleDocument(file=options.file, regions=regions))
    else:
        say(text.text(answers))
    if options.page is not None:
        from autotune.commands.scale import scale_page

        frame.write(scale_page.page(answers, options.file.name), options.page)
        note(f"wrote {options.page}")
