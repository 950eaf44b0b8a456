"""All documents that commands print with ``--json``, by the name of their schema."""

import typing
from collections.abc import Mapping

from autotune.commands.assertion.check.document import AssertionCheckDocument
from autotune.commands.assertion.modelling import document as modelling
from autotune.commands.assertion.run.document import AssertionRunDocument
from autotune.commands.assertion.show.document import AssertionRecordsDocument
from autotune.commands.check.document import CheckDocument
from autotune.commands.comm import document as comm
from autotune.commands.compare.document import (
    CompareReferenceDocument,
    CompareSidesDocument,
    ReportDocument,
)
from autotune.commands.explain.document import ExplainDocument
from autotune.commands.export.document import ExportDocument
from autotune.commands.importing.document import ImportDocument
from autotune.commands.init.document import InitDocument
from autotune.commands.learn.compare.document import EvaluateDocument, ModelComparisonDocument
from autotune.commands.learn.design.document import DesignDocument
from autotune.commands.learn.fit.document import FitDocument
from autotune.commands.learn.show.document import MeasurementsDocument
from autotune.commands.machine import document as machine
from autotune.commands.machine.refine.document import RefineDocument, RefineUndoDocument
from autotune.commands.map.document import MapDocument
from autotune.commands.measure.document import MeasureDocument
from autotune.commands.mirror.document import MirrorDocument
from autotune.commands.noise.document import NoiseDocument
from autotune.commands.rank.document import PredictDocument, RankDocument, VariantsDocument
from autotune.commands.reduce.document import ReduceDocument
from autotune.commands.replay.document import ReplayDocument
from autotune.commands.scale.document import ScaleDocument
from autotune.commands.schema.document import SchemaDocument
from autotune.commands.tune.document import EmitJobDocument
from autotune.results.documents.study_document import StudyDocument

DOCUMENTS: tuple[type, ...] = (
    machine.DoctorDocument, InitDocument, VariantsDocument, PredictDocument, RankDocument,
    StudyDocument, EmitJobDocument, ReplayDocument, MeasureDocument, NoiseDocument,
    CompareReferenceDocument, CompareSidesDocument, CheckDocument, EvaluateDocument,
    ReportDocument, ExportDocument, ImportDocument, MirrorDocument, MapDocument, ReduceDocument,
    ScaleDocument, machine.MachineDocument, machine.MachineListDocument,
    machine.MachineCheckDocument, machine.MachineDetectDocument, RefineDocument,
    RefineUndoDocument, comm.CommBenchDocument, comm.CommFitDocument, comm.CommShowDocument,
    comm.CommImportDocument, comm.CommMergeDocument, MeasurementsDocument, DesignDocument,
    FitDocument, ModelComparisonDocument, AssertionRunDocument,
    AssertionCheckDocument, AssertionRecordsDocument,
    modelling.AssertionModelDocument, modelling.AssertionScaleDocument,
    modelling.AssertionSensitivityDocument, modelling.AssertionSkeletonDocument,
    modelling.AssertionSizesDocument, modelling.AssertionTimeDocument,
    modelling.AssertionFitDocument,
    SchemaDocument, ExplainDocument,
)  # fmt: skip
"""The classes, in the order of the help; a class may have several schemas."""


def documents() -> Mapping[str, type]:
    """The document class of every schema name such as ``autotune.rank/1``.

    The fields of the frozen class are the keys of the document.
    """
    return {
        schema: document
        for document in DOCUMENTS
        for schema in typing.get_args(typing.get_type_hints(document)["schema"])
    }
