"""Entry point of the function that hands a job to an HTTP backend.

Called by the definition's state *Invoke backend* with the lane, the task token, the run, the job, the attempt,
the fence and the deadline. An exception fails the attempt under its class's name.
"""

import os
from typing import Any

import boto3
import urllib3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from lambdas.invoke_backend.environment import Environment
from lambdas.invoke_backend.post import post_job
from onelane.core import table
from onelane.core.errors import BackendError, BackendUnanswered, LaneLost
from onelane.core.lane import Lane

logger = Logger()
# Neither the response nor an exception goes into the trace: a backend's words may be anything.
tracer = Tracer()
metrics = Metrics()

_RETRIES = Config(retries={"mode": "standard", "max_attempts": 5})
_environment = Environment.read(os.environ)
_dynamodb = boto3.client("dynamodb", config=_RETRIES)
_stepfunctions = boto3.client("stepfunctions", config=_RETRIES)
_pool = urllib3.PoolManager()

#: The task is closed already: somebody has answered, or it has timed out. Our answer changes nothing.
#: Source: botocore's model of Step Functions, operation SendTaskSuccess
CLOSED = frozenset({"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"})


@tracer.capture_lambda_handler(capture_response=False, capture_error=False)
@logger.inject_lambda_context(log_event=False)
@metrics.log_metrics
def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:  # noqa: ARG001
    """Posts the job. Answers with the token only for a backend that was done at once.

    Raises:
        BackendError: What the backend said, as the name of a subclass; see `onelane.core.errors`.
    """
    facts = {
        "lane": event["lane"],
        "job_id": event["job"]["id"],
        "attempt": event["attempt"],
        "fence": event["fence"],
        "run": event["run"],
    }
    outcome = "HandOverFailed"
    try:
        outcome = _hand_over(event)
    except BackendError as error:
        outcome = type(error).__name__
        raise
    finally:
        logger.info(outcome, **facts)
        metrics.add_metric(name=outcome, unit=MetricUnit.Count, value=1)
    return {"outcome": outcome}


def _hand_over(event: dict[str, Any]) -> str:
    lane = str(event["lane"])
    _check_lane(lane, run=event["run"], fence=int(event["fence"]))
    result = post_job(_pool, _environment.backends[lane], event)
    if result is None:
        return "JobAccepted"
    _answer(event["task_token"], result)
    return "JobDoneAtOnce"


def _check_lane(lane: str, *, run: str, fence: int) -> None:
    """The last look before work begins: a run that was redriven or woke up late must not start the backend."""
    item = _dynamodb.get_item(
        TableName=_environment.table_name, Key={table.KEY: {"S": table.lane_key(lane)}}, ConsistentRead=True
    ).get("Item", {})
    flag = Lane.from_item(lane, item)
    if flag.holder != run or flag.fence != fence:
        raise LaneLost(
            f"lane {lane} is held by {flag.holder or 'nobody'} at fence {flag.fence}, not by this run at {fence}"
        )


def _answer(task_token: str, result: str) -> None:
    try:
        _stepfunctions.send_task_success(taskToken=task_token, output=result)
    except ClientError as error:
        if error.response["Error"]["Code"] not in CLOSED:
            raise BackendUnanswered(f"the backend is done, but Step Functions refused to hear it: {error}") from None
    except BotoCoreError as error:
        raise BackendUnanswered(f"the backend is done, but Step Functions could not be told: {error}") from None
