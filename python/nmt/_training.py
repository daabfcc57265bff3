"""Preparing and training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, List, Mapping, Optional

from nmt import _arguments, _configuration, _nmt
from nmt._configuration import Configuration
from nmt._errors import StopTraining


@dataclass(frozen=True)
class PrepareResult:
    """What became of the text."""

    directory: str  #: data.dir: the prepared data
    up_to_date: bool  #: it held exactly this data already: nothing was done
    table: str  #: what was kept and dropped of each corpus and why, for people


@dataclass(frozen=True)
class Start:
    """What a run is, told once at its start."""

    run_directory: str
    parameters: int
    update: int  #: 0, or where a run resumes
    max_updates: int  #: 0: not limited by updates
    updates_per_epoch: int  #: of the first epoch
    max_epochs: int  #: 0: not limited by epochs
    device: str
    precision: str
    threads: int


@dataclass(frozen=True)
class Update:
    """One update."""

    epoch: int  #: from 1
    update: int  #: from 1
    loss: float  #: nats per target token, smoothed: the objective
    perplexity: float  #: exp of the unsmoothed loss
    accuracy: float  #: share of target tokens with the highest probability, in [0, 1]
    learning_rate: float
    gradient_norm: float  #: before clipping
    source_tokens: int  #: of its batches, without padding
    target_tokens: int
    skipped: bool  #: loss or gradient was not finite: the weights stayed as they were


@dataclass(frozen=True)
class Interval:
    """The updates of a log interval (run.log_every), as metrics.jsonl has them."""

    epoch: int  #: of the last update
    update: int
    loss: float
    perplexity: float
    accuracy: float
    learning_rate: float  #: of the last update
    gradient_norm: float
    source_tokens_per_second: float
    target_tokens_per_second: float
    target_tokens: int  #: since the start of the run
    skipped_updates: int
    seconds_left: Optional[float]  #: estimate; None: not known


@dataclass(frozen=True)
class Epoch:
    """An epoch that has ended."""

    epoch: int
    update: int
    loss: float  #: nats per target token, the mean of its updates
    perplexity: float


@dataclass(frozen=True)
class Sample:
    """A line of a validation set as the model translates it."""

    source: str
    reference: str
    hypothesis: str


@dataclass(frozen=True)
class Validation:
    """A validation of weights on one set."""

    epoch: int
    update: int
    set: str  #: its name, where there are several
    loss: float  #: nats per target token
    perplexity: float
    accuracy: float
    bleu: Optional[float]  #: in percent
    chrf: Optional[float]
    bleu_text: str  #: as sacreBLEU prints it, with signature
    chrf_text: str
    is_best: bool  #: the best validation so far: written to best/
    seconds: float  #: that it took
    weights: str  #: "": those of this update; else what they are, "average of updates 100, 200"
    samples: List[Sample] = field(default_factory=list, hash=False)
    other_sets: List[Validation] = field(default_factory=list, hash=False)  #: they do not decide what is best


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended."""

    run_directory: str
    best_model: Optional[str]  #: model directory of the best weights; None where there is none yet
    stopped: bool  #: a callback ended it: the next train() resumes
    reason: str  #: why it ended, for people
    updates: int
    best: Optional[Validation]  #: of best_model, without samples


def prepare(config: Configuration, *, settings: Optional[Mapping[str, Any]] = None,
            overwrite: bool = False) -> PrepareResult:
    """Does nmt-prepro's work: reads and cleans parallel text, learns the vocabularies, writes the prepared data.

    :param config: a YAML file, or the options as a dict: ``{"data": {"train1": "train.de", ...}}``
    :param settings: further options over it, in the same form: ``{"data.vocab_size": 8000}``
    :param overwrite: replaces prepared data that was made of other files or options

    SentencePiece learns in a child process. What there is to say goes to the logger ``nmt``. Raises :class:`nmt.Error`
    ("FILE:LINE: ...; did you mean ...?"), :class:`nmt.MachineError`, KeyboardInterrupt; then nothing was written.
    """
    file, options = _configuration.read(config, settings)
    return _nmt.prepare(file, options, _arguments.flag("overwrite", overwrite))


def effective_configuration(config: Configuration, *, settings: Optional[Mapping[str, Any]] = None) -> str:
    """All options with the values that they have then, as YAML with their help. Raises :class:`nmt.Error`."""
    return _nmt.effective_configuration(*_configuration.read(config, settings))


class Trainer:
    """Does nmt-train's work in this process.

    ::

        trainer = nmt.Trainer("mine.yaml", settings={"training.max_updates": 1000})
        result = trainer.train(on_validation=lambda validation: print(validation.bleu))
        nmt.Translator(result.best_model)

    :param config: a YAML file, or the options as a dict
    :param settings: further options over it: ``{"training.lr": 0.002}``
    :param restart: starts again; an old run directory is renamed to NAME.old-N. Otherwise a run is resumed.

    Raises :class:`nmt.Error` where the configuration is not as it should be. One run at a time in a process.
    """

    def __init__(self, config: Configuration, *, settings: Optional[Mapping[str, Any]] = None,
                 restart: bool = False) -> None:
        self._file, self._settings = _configuration.read(config, settings)
        self._restart = _arguments.flag("restart", restart)
        self.run_directory, self.configuration = _nmt.check_training(self._file, self._settings)

    def train(self, *, on_start: Optional[Callable[[Start], object]] = None,
              on_update: Optional[Callable[[Update], object]] = None,
              on_interval: Optional[Callable[[Interval], object]] = None,
              on_epoch: Optional[Callable[[Epoch], object]] = None,
              on_validation: Optional[Callable[[Validation], object]] = None,
              on_checkpoint: Optional[Callable[[int], object]] = None) -> TrainingResult:
        """Trains to the end of the run. On the run directory of a run that was stopped or killed it resumes exactly where
        that stopped, and ends in the same bits.

        Callbacks are called in this thread, one after the other, with plain numbers. One that returns False, or raises
        :class:`nmt.StopTraining`, ends the run with its state saved; ``train`` returns with ``stopped`` set, and the next
        ``train`` resumes. So does one that raises something else, and Ctrl-C: then ``train`` raises it when the state is
        saved. While the run computes, other Python threads continue.

        :param on_checkpoint: gets the number of the update whose state was written

        Raises :class:`nmt.Error` (no prepared data, a run directory of other options or in use),
        :class:`nmt.MachineError`, and what callbacks raise.
        """

        functions = {"on_start": on_start, "on_update": on_update, "on_interval": on_interval, "on_epoch": on_epoch,
                     "on_validation": on_validation, "on_checkpoint": on_checkpoint}
        for name, function in functions.items():
            _arguments.callback(name, function)

        def started(start: Start) -> bool:
            self._restart = False  # once: from now on the run is this one
            return on_start is None or _continues(on_start)(start)

        return _nmt.train(self._file, self._settings, self._restart,
                          {**{name: _continues(function) for name, function in functions.items() if function is not None},
                           "on_start": started})


def _continues(function: Callable[[Any], object]) -> Callable[[Any], bool]:
    """The callback, which says whether the run continues."""

    def call(figures: Any) -> bool:
        try:
            answer = function(figures)
        except StopTraining:
            return False
        return not _arguments.is_truth(answer) or bool(answer)  # None, 0 and the like are no answer

    return call


for _class in (PrepareResult, Start, Update, Interval, Epoch, Sample, Validation, TrainingResult, Trainer):
    _class.__module__ = "nmt"
