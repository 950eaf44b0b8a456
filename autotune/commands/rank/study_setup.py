"""The setup of a stored study, from its config file or from the text in the store."""

from pathlib import Path

from autotune.domain.setup import Setup
from autotune.errors import ConfigError, Fault, InputError
from autotune.files import config
from autotune.files.store.records import StudyRecord
from autotune.toolchain.scratch_folder import temporary_folder


def setup_of_study(record: StudyRecord, place: Path | None) -> Setup:
    """The setup of a study, from its config file or else from the text in the store; where that
    text names files beside itself, from the file that was tuned, or one like it in the working
    folder.

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
            beside = _beside(record)
            if beside is not None:
                return config.load(beside)
            lacking = error.faults[0].found.replace(f"{folder}/", "")
            raise InputError(
                Fault(
                    where=f"study {record.name}",
                    found=f"the store does not suffice: {lacking}",
                    hint="name the config file of the study: --config FILE",
                )
            ) from error


def _beside(record: StudyRecord) -> Path | None:
    """The config of a study: the file that was tuned, by its path from the working folder, else in
    the working folder the file of its name, or one that says the same as the store; None where
    there is none.
    """
    for path in (Path(record.file), Path(f"{record.config}.yaml")):
        if path.is_file():
            return path
    return next((path for path in sorted(Path().glob("*.yaml")) if _is_of(path, record)), None)


def _is_of(path: Path, record: StudyRecord) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return bool(text.strip()) and record.setup_text.startswith(text.strip())
