"""The student M0 on this machine: fetched by digest, dequantised once, verified at every use.

Invariant: a folder that `ensure_student` returns holds exactly the bytes that its digest names. It is not a model:
nothing here keeps weights in memory, and nothing here imports torch.
"""

from rsibench.student.ensure import PreparedStudent, ensure_student
from rsibench.student.progress import StudentProgress, StudentStage

__all__ = ["PreparedStudent", "StudentProgress", "StudentStage", "ensure_student"]
