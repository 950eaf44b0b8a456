"""The setup of a stored study, from its config file or from the text in the store."""

from pathlib import Path

from autotune.domain.setup import Setup
from autotune.errors import ConfigError, Fault, InputError
from autotune.files import config
from autotune.files.store.records import StudyRecord
from autotune.toolchain.scratch_folder import temporary_folder


def setup_of_study(record: StudyRecord, place: Path | None) -> Setup:
    """The setup of a study, from its config file or else from the text in the store; from the file
    of its name in the working folder where that text names files beside itself.

    InputError where these are not there without the config.
    """
    if place is not None:
        return config.load(place)
    with temporary_folder() as folder:
        path = folder / f"{record.config}.yaml"
        path.write_text(record.setup_text, encoding="utf-8")
        try:
            return config.load(path)
        except ConfigError as error:
            beside = Path(f"{record.config}.yaml")
            if beside.is_file():
                return config.load(beside)
            raise InputError(
                Fault(
                    where=f"study {record.name}",
                    found=f"the store does not suffice: {error.faults[0].found}",
                    hint="name the config file of the study: --config FILE",
                )
            ) from error
