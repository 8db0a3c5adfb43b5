"""What every engine does with a stretch of samples: predict, and write down."""

from collections import deque
from collections.abc import Iterable, Iterator

from ..classify.classifier import Classifier
from ..datasets import Item
from ..errors import ViewvoteError
from ..records.record import Record, failed_record, record_of
from ..views.sample import Keyed
from .job import Job


def run_shard(classifier: Classifier, items: Iterable[Item], *, job: Job) -> Iterator[Record]:
    """One record per item, in order; an image that cannot be used is a record with its error.

    A sample's numbers do not depend on those before and after it, so a run may be cut and taken up anywhere.
    """
    ahead: deque[Item] = deque()

    def keyed() -> Iterator[Keyed]:
        for item in items:
            ahead.append(item)
            yield Keyed(item.image, item.key, job.dataset.name)

    for result in classifier.predict_many(keyed(), on_error="return"):
        item = ahead.popleft()
        if isinstance(result, ViewvoteError):
            yield failed_record(result, key=item.key, target=item.target)
        else:
            yield record_of(result, key=item.key, target=item.target)
