"""Every error viewvote raises on purpose. Each is also the builtin a caller would expect to catch.

ViewvoteError
├── UsageError (ValueError)               an argument is wrong; exit code 2
│   └── UnknownNameError (LookupError)    no such model, method, template set or dataset
├── ImageError (ValueError)               an image cannot be used; names the file
│   ├── UnreadableImageError (OSError)    missing, truncated or not an image
│   └── ImageTooLargeError                over the byte or pixel limit
├── DatasetError (ValueError)             a dataset is not what it should be; names the file or folder
│   └── DatasetNotFoundError (FileNotFoundError)  its files are not where they were looked for
├── NonFiniteError (ArithmeticError)      NaN or infinity where the vote needs a number; names the view
├── ModelError (RuntimeError)             a model cannot be used
│   ├── ModelNotFoundError (FileNotFoundError)  not on disk and not to be had
│   ├── CheckpointError (ValueError)      a weights file is not what was expected
│   └── UnsupportedEncoderError (TypeError)     the encoder lacks an ability the method needs
├── FeaturesError (ValueError)            a folder of features is not what was expected; names the file
├── RecordError (ValueError)              a record or a run's folder is not what was expected; names the file
├── RunError (RuntimeError)               a run cannot start or go on; what it recorded stays
│   ├── RunLockedError (BlockingIOError)  another process is at work in the run's folder
│   └── RunWriteError (OSError)           the run's folder cannot be written: disk full, read-only
├── ContractError (AssertionError)        an encoder or a method of a plugin breaks a promise (viewvote.testing)
└── MissingExtraError (ImportError)       an optional dependency is not installed
"""

__all__ = [
    "CheckpointError",
    "ContractError",
    "DatasetError",
    "DatasetNotFoundError",
    "FeaturesError",
    "ImageError",
    "ImageTooLargeError",
    "MissingExtraError",
    "ModelError",
    "ModelNotFoundError",
    "NonFiniteError",
    "RecordError",
    "RunError",
    "RunLockedError",
    "RunWriteError",
    "UnknownNameError",
    "UnreadableImageError",
    "UnsupportedEncoderError",
    "UsageError",
    "ViewvoteError",
]


MOST_CHARACTERS, MOST_LINES = 1000, 20
"""What a message shows at most: it must fit on a screen, whatever a file or an option has in it."""


def brief(message: str) -> str:
    """The message, cut in its middle where it is longer than anybody reads."""
    if len(message) > MOST_CHARACTERS:
        message = f"{message[: MOST_CHARACTERS // 2]} ... {message[-MOST_CHARACTERS // 2 :]}"
    lines = message.splitlines()
    return message if len(lines) <= MOST_LINES else "\n".join([*lines[: MOST_LINES - 2], "...", lines[-1]])


class ViewvoteError(Exception):
    """The base of them all; `exit_code` is what the command line returns for it."""

    exit_code = 1

    def __str__(self) -> str:
        # KeyError-like builtins quote their argument; a message for people should not be quoted.
        return brief(str(self.args[0])) if self.args else self.__class__.__name__


class UsageError(ViewvoteError, ValueError):
    """An argument is outside what is accepted."""

    exit_code = 2


class UnknownNameError(UsageError, LookupError):
    """A name that no registry knows."""


class ImageError(ViewvoteError, ValueError):
    """An image that cannot be used."""


class UnreadableImageError(ImageError, OSError):
    """A file that is missing, truncated or not an image."""


class ImageTooLargeError(ImageError):
    """An image over the byte or pixel limit."""


class DatasetError(ViewvoteError, ValueError):
    """A dataset with other contents than expected."""


class DatasetNotFoundError(DatasetError, FileNotFoundError):
    """A dataset whose files are not where they were looked for."""


class NonFiniteError(ViewvoteError, ArithmeticError):
    """A logit that is NaN or infinite."""


class ModelError(ViewvoteError, RuntimeError):
    """A model that cannot be used."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """A model that is neither on disk nor downloadable."""


class CheckpointError(ModelError, ValueError):
    """A weights file with other contents than expected."""

    exit_code = 2


class UnsupportedEncoderError(ModelError, TypeError):
    """An encoder without the ability that was asked of it."""


class FeaturesError(ViewvoteError, ValueError):
    """A folder of features that is not what was expected."""


class RecordError(ViewvoteError, ValueError):
    """A record, or a folder of them, that is not what was expected."""

    exit_code = 2


class RunError(ViewvoteError, RuntimeError):
    """A run that cannot start or go on; what it recorded stays."""


class RunLockedError(RunError, BlockingIOError):
    """A run folder in which another process is at work."""


class RunWriteError(RunError, OSError):
    """A run folder that cannot be written to: a full disk, a read-only place."""


class ContractError(ViewvoteError, AssertionError):
    """An encoder or a method that does not do what the package relies on."""


class MissingExtraError(ViewvoteError, ImportError):
    """An optional dependency that is not installed."""

    exit_code = 2

    @classmethod
    def for_extra(cls, extra: str, *, what: str) -> "MissingExtraError":
        """The error that tells which extra brings `what`."""
        return cls(f'{what} needs an optional dependency. Install it with: pip install "viewvote[{extra}]"')
