"""The section ``model`` of a program, route by route: what goes together, and what fits."""

from pathlib import Path

import pytest
from program_samples import DAXPY, HEAD, MARKED, MATMUL, written

from autotune.domain.program_model import FormulaModel, KerncraftModel, KernelModel, MarkedModel
from autotune.files import config
from autotune.files.config.facts import altered
from autotune.files.config.program.program_kernels import complete_kernel
from autotune.files.config.program.program_models import complete_model
from autotune.files.config.program.programs import read_program
from autotune.files.config.session import Session
from autotune.files.parsing import yaml_document
from autotune.language.constraint import Condition

TOP = HEAD.count("\n")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program without a model: argument n, parameters block and mode; its source is mm.c."""
    session = Session()
    folder = tmp_path_factory.mktemp("program")
    for mode in ("fast", "safe"):
        (folder / f"k-{mode}.c").write_text(DAXPY, encoding="utf-8")
    program = read_program(session, written(folder, ""))
    assert program is not None, session.faults
    return program


def nowhere():
    """A document without places: faults name the file."""
    return yaml_document.Document(Path("/p.yaml"), {})


def completed(program, stated):
    session = Session()
    model = complete_model(session, nowhere(), stated, program)
    return model, [str(fault).removeprefix("/p.yaml: ") for fault in session.faults]


def conditions(**formulas):
    return {name: Condition(text) for name, text in formulas.items()}


# --- formulas ---------------------------------------------------------------------------------


def test_a_formula_may_name_arguments_parameters_figures_and_names_before_it(program):
    where = conditions(work="2 * n**3", rate="flops * threads", time="work / rate + block")
    stated = FormulaModel(terms=conditions(a="time", b="cache_L2 / bandwidth_MEM"), where=where)
    model, faults = completed(program, stated)
    assert (model, faults) == (stated, [])


@pytest.mark.parametrize(
    ("where", "term", "fault"),
    [
        ({}, "m", "unknown name 'm'; expected one of n, block, mode, threads, clock, cores, line,"
         " flops, barrier, cache_L1 ..., bandwidth_L1 ..."),
        ({}, "blok", "(did you mean block?)"),
        ({}, "cache_L9", "(did you mean cache_L1, cache_L2 or cache_L3?)"),
        ({"n": "1"}, "n", "'n' cannot be such a name; expected a new name"),
        ({"clock": "1"}, "n", "'clock' cannot be such a name; expected a new name"),
        ({"a b": "1"}, "n", "'a b' cannot be such a name; expected a new name"),
        ({"later": "last", "last": "n"}, "later", "unknown name 'last'"),
    ],
    ids=str,
)  # fmt: skip
def test_a_name_that_is_not_known_is_refused(program, where, term, fault):
    stated = FormulaModel(terms=conditions(a=term), where=conditions(**where))
    model, faults = completed(program, stated)
    assert model is None
    assert len(faults) == 1
    assert fault in faults[0]


# --- kerncraft --------------------------------------------------------------------------------


def kerncraft(file="k-{mode}.c", constants=None):
    return KerncraftModel(
        file=file, names=(), texts={}, iterations=Condition("n"),
        constants=conditions(**({"N": "n"} if constants is None else constants)),
    )  # fmt: skip


def test_a_kernel_has_a_text_for_each_value_of_its_parameters(program):
    model, faults = completed(program, kerncraft())
    assert faults == []
    assert isinstance(model, KerncraftModel)
    assert model.names == ("mode",)
    assert model.texts == {("fast",): DAXPY, ("safe",): DAXPY}


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"file": "k-fas.c"}, ["there is no file '"]),
        ({"file": "k-{block}.c"}, ["there is no file '"] * 3),
        ({"file": "k-{tile}.c"}, ["unknown placeholder '{tile}'; expected one of {block}, {mode}"]),
        ({"file": "k-{mode.c"}, ["a brace stands alone in 'k-{mode.c'"]),
        (
            {"constants": {"M": "n"}},
            ["no kernel of k-{mode}.c names 'M'; expected a size in its text"],
        ),
        ({"constants": {"N": "m"}}, ["unknown name 'm'"]),
    ],
    ids=str,
)
def test_a_kernel_that_is_not_there_is_refused(program, change, faults):
    model, found = completed(program, kerncraft(**change))
    assert model is None
    assert len(found) == len(faults), found
    for text, words in zip(found, faults, strict=True):
        assert words in text


def test_the_nearest_file_is_offered(program):
    _, (fault,) = completed(program, kerncraft("k-fas.c"))
    assert fault.endswith("(did you mean k-fast.c?)")


# --- marked loops -----------------------------------------------------------------------------


def marked(program, **change):
    """The draft of a model of marked loops, as its file states it."""
    return altered(_marked_of(program), **{"file": "mm.c", "lines": {}, "compile": (), **change})


def _marked_of(program):
    session = Session()
    folder = Path(program.source_folder)
    other = folder / "marked.yaml"
    other.write_text(HEAD + MARKED, encoding="utf-8")
    made = read_program(session, other)
    assert made is not None, session.faults
    assert isinstance(made.model, MarkedModel)
    return made.model


def test_marked_loops_are_found_in_the_source_with_their_lines(program):
    model, faults = completed(program, marked(program))
    assert faults == []
    assert isinstance(model, MarkedModel)
    assert model.lines == {"inner": (8, 9)}
    assert model.file == str((Path(program.source_folder) / "mm.c").resolve())
    assert model.compile[0] == "{compiler}"
    assert MATMUL.splitlines()[7].lstrip().startswith("for (long j")


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("mm.f90", "marked loops are not read from mm.f90; expected C or C++: a file *.c"),
        ("mn.c", "there is no file '"),
    ],
)
def test_a_source_that_cannot_be_read_is_refused(program, file, fault):
    model, faults = completed(program, marked(program, file=file))
    assert model is None
    assert any(fault in text for text in faults)


def test_a_loop_that_is_not_marked_or_described_twice_is_refused(program):
    (loop,) = _marked_of(program).loops
    from_other = type(loop)(name="iner", iterations=loop.iterations)
    model, faults = completed(program, marked(program, loops=(loop, loop, from_other)))
    assert model is None
    assert faults == [
        "'inner' is described twice; expected each once",
        "no loop of mm.c is marked as 'iner'; expected one of inner (did you mean inner?)",
    ]


def test_a_compile_command_names_what_a_build_may_name(program):
    good = marked(program, compile=("{compiler}", "-DB={block}", "{source folder}/mm.c"))
    assert completed(program, good)[1] == []
    bad = marked(program, compile=("{compiler}", "{threads}"))
    model, faults = completed(program, bad)
    assert model is None
    assert "unknown placeholder '{threads}'" in faults[0]


# --- kernels of the kernel files --------------------------------------------------------------


def kernel(**change):
    """The draft of a model by kernel files, as its file states it."""
    size = (Condition("n"),)
    good = KernelModel(stencil="star3d-7pt", size=size, space="stencil-blocks")
    return altered(good, **change)


def kernel_of(stated):
    session = Session()
    model = complete_kernel(session, nowhere(), stated)
    return model, [str(fault).removeprefix("/p.yaml: ") for fault in session.faults]


def test_the_files_of_a_kernel_become_paths():
    model, faults = kernel_of(kernel())
    assert faults == []
    assert model is not None
    assert Path(model.stencil).name == "star3d-7pt.yaml"
    assert Path(model.space).is_absolute()
    assert config.generated(model.space).skeleton.name == "jacobi"
    ivp = kernel(stencil=None, ivp="heat2d", method="radau-iia-7", space="pirk")
    model, faults = kernel_of(ivp)
    assert faults == []
    assert model is not None
    assert (Path(model.ivp).stem, Path(model.method).stem) == ("heat2d", "radau-iia-7")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"method": "radau-iia-7"}, "a stencil has no method and no correctors; expected an ivp,"
         " or none of these"),
        ({"correctors": 2}, "a stencil has no method and no correctors"),
        ({"size": (Condition("n"),) * 2}, "2 sizes: star3d-7pt has the dimensions k, j, i; expected"
         " one, or 3"),
        ({"stencil": None, "ivp": "heat2d", "method": "radau-iia-7", "space": "pirk",
          "size": (Condition("n"),) * 2}, "2 sizes of an IVP; expected one: N"),
        ({"space": "pirk"}, "the space pirk is for an IVP; expected a space for a stencil"),
        ({"space": "stencil-block"}, "(did you mean stencil-blocks?)"),
        ({"stencil": "star3d"}, "unknown stencil 'star3d'"),
        ({"parameters": {"bx": Condition("1")}}, "unknown parameter 'bx'; expected one of "),
    ],
    ids=str,
)  # fmt: skip
def test_a_kernel_whose_parts_do_not_fit_is_refused(change, fault):
    model, faults = kernel_of(kernel(**change))
    assert model is None
    assert any(fault in text for text in faults), faults
