"""Headers and storage of programs of several sweeps in one pass, as C."""

from autotune.codegen.grid import overlap_text, wavefront_text
from autotune.codegen.tree import loop_tree


def headers(program: loop_tree.StepProgram) -> list[str]:
    """The headers of the way in which a program makes several sweeps; none where it makes one."""
    match loop_tree.several_sweeps(program.body):
        case (loop_tree.PlaneFront(), _):
            return [wavefront_text.HEADER]
        case (loop_tree.OverlappedTile(), _):
            return [overlap_text.HEADER]
    return []


def storage(program: loop_tree.StepProgram) -> list[str]:
    """The body of the C function that claims memory of a thread for what lies between the first and
    the last sweep; empty where there is nothing.
    """
    match loop_tree.several_sweeps(program.body):
        case (loop_tree.PlaneFront() as front, blocks):
            return wavefront_text.storage(front, blocks)
        case (loop_tree.OverlappedTile() as tile, blocks):
            return overlap_text.storage(tile, blocks)
    return []
