"""Entry point of the lane keeper.

Called with `{"cause": "object_created" | "run_ended" | "sweep" | "operator", "lane": name, "run": ARN}`; without
`lane` it keeps all lanes.
"""

import os
import time
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from botocore.config import Config

from lambdas.lane_keeper.environment import Environment
from lambdas.lane_keeper.keeper import Cause, LaneKeeper
from onelane.core.errors import OneLaneError

logger = Logger()
tracer = Tracer()
metrics = Metrics()

_RETRIES = Config(retries={"mode": "standard", "max_attempts": 5})
_environment = Environment.read(os.environ)
_dynamodb = boto3.client("dynamodb", config=_RETRIES)
_sqs = boto3.client("sqs", config=_RETRIES)
_stepfunctions = boto3.client("stepfunctions", config=_RETRIES)


@tracer.capture_lambda_handler(capture_response=False)
@logger.inject_lambda_context(log_event=False)
@metrics.log_metrics
def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, list[str]]:  # noqa: ARG001
    """Keeps one lane, or all of them. A lane that fails doesn't keep the others from being kept.

    Returns:
        What was done, by lane.

    Raises:
        OneLaneError: A lane could not be kept; the next sweep tries again.
    """
    cause = Cause(event["cause"])
    names = [event["lane"]] if "lane" in event else list(_environment.lanes)
    done: dict[str, list[str]] = {}
    failed: list[str] = []
    for name in names:
        try:
            done[name] = _keep(name, cause, event.get("run"))
        except Exception:
            logger.exception("lane could not be kept", lane=name, cause=cause)
            metrics.add_metric(name="LaneKeeperFailures", unit=MetricUnit.Count, value=1)
            failed.append(name)
    if failed:
        raise OneLaneError(f"could not keep {', '.join(failed)}; the next sweep tries again")
    return done


def _keep(name: str, cause: Cause, run: str | None) -> list[str]:
    keeper = LaneKeeper(
        lane=_environment.lanes[name],
        table_name=_environment.table_name,
        dynamodb=_dynamodb,
        sqs=_sqs,
        stepfunctions=_stepfunctions,
        clock=time.time,
    )
    done = keeper.keep(cause, run)
    for phrase in done:
        logger.info(phrase, lane=name, cause=cause)
    metrics.add_metric(name="LaneKeeperActions", unit=MetricUnit.Count, value=len(done))
    return done
