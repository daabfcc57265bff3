"""What the package raises."""


class Error(ValueError):
    """What the caller or its user can fix: a wrong option, a folder that is no model, a line of a file.

    The text is one line: what is wrong, where (FILE:LINE or the option), and what to do.
    """


class MachineError(RuntimeError):
    """What the machine failed at: a full disk, too little memory, a lost device. The text is one line."""


class StopTraining(Exception):
    """Raised by a callback of :meth:`nmt.Trainer.train`: the run ends with its state saved, and ``train`` returns."""


for _class in (Error, MachineError, StopTraining):
    _class.__module__ = "nmt"
