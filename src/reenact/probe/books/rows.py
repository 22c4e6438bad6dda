"""The book of rows, as it was kept while the program ran (`reenact_probe.books.rows`)."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.types import Place


@dataclass(frozen=True, slots=True)
class ScaledColumns:
    """How far columns are from mean 0 and deviation 1 by the statistics of their own rows."""

    columns: int = 0
    """Columns that vary; 0 where they were not measured."""
    mean_off: float = 1.0
    deviation_off: float = 1.0

    @property
    def are_their_own(self) -> bool:
        """Whether these very rows gave the statistics they are scaled by."""
        return self.columns > 0 and self.mean_off < 1e-4 and self.deviation_off < 1e-3


@dataclass(frozen=True, slots=True)
class Twins:
    """How often two rows are equal that train in one step, or in one round of a loader."""

    pairs: float
    equal: int


@dataclass(frozen=True, slots=True)
class NearlyEqual:
    """Rows that judge and are, but for little, rows that trained."""

    rows: int
    """That are not a row that trained, of those that were read."""
    near: int


@dataclass(frozen=True, slots=True)
class FilledSide:
    """One end of rows that are filled up to one length."""

    value: int
    share: float
    """Of all numbers; 0 where each row has as many."""


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """With what rows of tokens are filled up."""

    parts: int
    """Tensors that a model is given: more than one may tell where rows end."""
    begin: FilledSide
    end: FilledSide


@dataclass(frozen=True, slots=True)
class JudgingRows:
    """A set of rows that the model is asked about: all of a loader, or those of one pass."""

    labelled: bool
    """A loader gave them with something else, by custom their labels."""
    rows: int
    distinct: int
    shared: int
    """Distinct rows that trained the same model before."""
    times: int
    """How often it was asked about them."""
    complete: bool
    certain: bool
    """Two of these rows are hardly ever equal by chance."""
    measured: bool
    """They never are: equal rows are copies."""
    coverage: float
    """Share of the rows that had trained the model by then that are known."""
    compared: int
    """Columns that vary in the training rows."""
    apart: float
    """Share of them that lie elsewhere, or are far wider or narrower, here."""
    moved: int
    """Columns, or channels, that are those of other places in training."""
    windows: int
    """Rows that are windows, by their middles."""
    across: int
    """Those whose middle lies in a window of the same series that trains."""
    place: Place | None
    columns: int
    mean_off: float
    deviation_off: float
    content: str = ""
    """Equal for equal rows, in whatever order."""
    padding: PaddedRows | None = None
    nearly: NearlyEqual | None = None

    @property
    def scaled(self) -> ScaledColumns:
        return ScaledColumns(self.columns, self.mean_off, self.deviation_off)

    @property
    def share(self) -> float:
        return self.shared / max(1, self.distinct)

    def by_chance(self, twins: Twins, trained: int) -> float:
        """The share of these rows, at most, that is equal to one of so many others by chance, where
        rows are equal as often as those of one set are."""
        if self.measured:
            return 0.0
        pairs = twins.pairs + self.rows * (self.rows - 1) / 2
        equal = twins.equal + max(0, self.rows - self.distinct)
        if pairs > equal:
            return float(1 - (1 - equal / pairs) ** trained)
        return 1.0


@dataclass(frozen=True, slots=True)
class Repeats:
    """Rows that came again in a later step, and whether their partner was the same."""

    rows: int = 0
    repeated: int = 0
    """Rows that came twice in one step."""
    again: int = 0
    same: int = 0
    known: int = 0
    """Partners of rows that came again that had been seen before."""
    chance: float = 0.0
    """Share of equal partners if they were dealt out by chance."""
    steps: int = 0
    """Times that pairs were read."""
    fixed: int = 0
    """Those at which partners were, place by place, those of other rows just before."""

    @property
    def of_places(self) -> bool:
        """Whether partners belong to places in a batch, not to rows."""
        return self.fixed > 0.5 * self.steps


@dataclass(frozen=True, slots=True)
class TurnedMaps:
    """Pictures with a label for each point that came again."""

    again: int = 0
    turned: int = 0
    otherwise: int = 0
    """Pictures whose label was turned otherwise."""


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """What some rows say about their labels."""

    rows: int
    columns: int
    repeated: float
    """Share of the rows that had been seen before."""
    whole: bool
    """Labels are whole numbers."""
    width: int
    explained: float | None
    """Share of the spread of the labels that a kernel regression explains on rows held out."""
    equal: int | None
    """A column that is the label itself but for unit and origin."""
    noise: bool
    """Labels are drawn from the unit normal distribution."""
    cosine: float | None
    """Mean square of the correlation of inputs and labels within a row; 1 by chance."""
    scale: float
    """Deviation of the inputs over that of the labels."""
    later: list[int] | None
    """A series that averages later values of the one that is forecast, and how many of them."""
    entropy: float | None
    """Loss of the best constant answer to labels that are classes."""


@dataclass(frozen=True, slots=True)
class RoundOrder:
    """In which order a loader that trains brings classes."""

    rounds: int
    sorted: int
    """Rounds in which one class follows the other."""
    batches: int
    single: int
    """Batches of one class."""
    classes: int
    rows: int


@dataclass(frozen=True, slots=True)
class LoaderRounds:
    """What a loader gives, round by round."""

    loader: int
    trains: bool
    rounds: int
    early: int
    """Rounds before the last that gave fewer batches than there are."""
    longest: int
    """The most batches that a round gave."""
    batches: int
    """Batches that there are; 0 where that is not known."""
    known: int
    """Rounds whose first batch is known."""
    orders: int
    """Different first batches."""
    changed: float | None
    """Of two rounds with the same labels in the same order: the share of rows that are others."""


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Rows of each class that trained and that judged, of those that were looked at."""

    among: int
    """Scores that the model gives a row; 0 where they are not among classes."""
    train: dict[str, int]
    judge: dict[str, int]


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Rows of one thing each, as of a patient: columns that are the same in all of them."""

    columns: tuple[int, ...]
    groups: int
    rows: int
    """That judge."""
    shared: int
    """Of them those of a group that trained."""
    alike: float
    """Share of the groups whose rows have one label in training."""
    most: float
    """Share of the most frequent label."""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """Rows of a loader that a model is asked about, by their numbers in one data set."""

    loader: int
    rows: int
    shared: int
    """Those that a loader had drawn from that trained this model by then."""
    trained: int
    """Rows of that data set that had trained it."""

    @property
    def share(self) -> float:
        return self.shared / max(1, self.rows)


@dataclass(frozen=True, slots=True)
class LossReach:
    """Rows that the loss reaches, of those that every step is given."""

    rows: int
    reached: int
    sets: list[tuple[int, int]]
    """Sets of rows that the program holds apart: size, and how many of them the loss reaches."""
    place: Place | None


@dataclass(frozen=True, slots=True)
class RowsBook:
    """Every row that was seen, by its content."""

    rows: int
    distinct: int
    train: ScaledColumns
    sets: list[JudgingRows]
    twins: Twins
    orders: list[RoundOrder]
    reach: LossReach | None
    rounds: list[LoaderRounds]
    classes: ClassCounts
    labels: Repeats
    towers: Repeats
    """Inputs of two models of one step whose i-th rows are to go together."""
    maps: TurnedMaps
    labelled: LabelledRows | None
    place: Place | None
    """The line that compares outputs and labels."""
    padding: PaddedRows | None = None
    """Of the rows that models were given that train."""
    nearly: float = 0.0
    """Share of the rows that train that are nearly another of them."""
    indexed: tuple[IndexedRows, ...] = ()
    groups: RowGroups | None = None
