"""nmt: a neural machine translation toolkit.

::

    import nmt

    translator = nmt.Translator("runs/mine/best")
    print(translator.translate("Ein Hund rennt.").text)

:class:`Translator` translates, :mod:`nmt.score` scores as sacreBLEU does, :func:`prepare` and :class:`Trainer` make
models. Errors are :class:`Error` (what the user can fix, a ValueError) and :class:`MachineError` (a RuntimeError).

All calls work without the interpreter's lock. Ctrl-C ends them. Free-threaded Python and subinterpreters are not
supported.
"""

from nmt import _library

_library.check_interpreter()

from nmt import _nmt, score
from nmt._build import VERSION as __version__
from nmt._errors import Error, MachineError, StopTraining
from nmt._results import Alternative, Attention, FileStatistics, ModelInformation, Request, Sampling, Translation
from nmt._training import (Epoch, Interval, PrepareResult, Sample, Start, Trainer, TrainingResult, Update, Validation,
                           effective_configuration, prepare)
from nmt._translator import Glossary, Tokenizer, TranslateOptions, Translator

_nmt.before_libtorch(_library.load)


def build_information() -> str:
    """The versions of what the package stands on and the machine's kernels, one line."""
    return _nmt.build_information()


__all__ = [
    "Alternative", "Attention", "Epoch", "Error", "FileStatistics", "Glossary", "Interval", "MachineError",
    "ModelInformation", "PrepareResult", "Request", "Sample", "Sampling", "Start", "StopTraining", "Tokenizer", "Trainer",
    "TrainingResult", "TranslateOptions", "Translation", "Translator", "Update", "Validation", "__version__",
    "build_information", "effective_configuration", "prepare", "score",
]
