"""Every error OneLane raises.

    OneLaneError
    ├── SettingsError      a setting in cdk.json or on the command line is wrong
    ├── MessageUnreadable  a message is no JSON object, or lacks what a job needs
    ├── RequestInvalid     what was posted to a backend is no job
    ├── NothingThere       there is nothing to talk to: no emulator, no stack, no answer
    ├── TimedOut           it took longer than it may
    ├── RefusedByState     it can't be done as things are
    └── BackendError       what a backend, or the function that calls it, says of a job
        ├── BackendBusy      it did not start; try again later, no attempt is spent
        ├── BackendRejected  it will never do this job; it is parked at once
        ├── BackendFailed    it says that the attempt failed; the next one may succeed
        ├── BackendUnanswered  nobody knows whether it started; the next attempt waits for the cool-down
        ├── LaneLost         this run no longer holds the lane; the backend was not called
        └── JobCancelled     an operator cancelled it

The class names are the error names that Step Functions shows and that the definition's Retry and Catch
fields match (`statemachine/serial.asl.json`): a Lambda function's exception fails its Task under the class's name.
"""


class OneLaneError(Exception):
    """Base of all errors. The text says what happened, where, and what to do."""


class SettingsError(OneLaneError):
    """One or more settings are wrong; `mistakes` has a line for each."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class MessageUnreadable(OneLaneError):
    """The message is no JSON object, or it looks like an S3 event but lacks what a job needs."""


class RequestInvalid(OneLaneError):
    """The posted body is not a job as `invoke_backend` sends it."""


class NothingThere(OneLaneError):
    """There is nothing to talk to: no emulator, no stack, no answer."""


class TimedOut(OneLaneError):
    """It took longer than it may."""


class RefusedByState(OneLaneError):
    """It can't be done as things are; the text says what would have to change."""


class BackendError(OneLaneError):
    """What a backend, or the function that calls it, says of a job."""


class BackendBusy(BackendError):
    """The backend did not start the job, because it is busy. Waiting costs no attempt."""


class BackendRejected(BackendError):
    """The backend will never do this job. It is parked at once."""


class BackendFailed(BackendError):
    """The backend says that the attempt failed and is over. The next one may succeed."""


class BackendUnanswered(BackendError):
    """No answer, or a server error: nobody knows whether it started. The next attempt waits for the cool-down."""


class LaneLost(BackendError):
    """This run does not hold the lane any more, so the backend was not called."""


class JobCancelled(BackendError):
    """An operator cancelled the job. It is not tried again."""
