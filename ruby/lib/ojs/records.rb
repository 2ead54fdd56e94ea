# frozen_string_literal: true

# Made from xtask/records.toml by make gen; do not edit.
module OJS
  # A job as the server describes it.
  class Job < Record
    # A UUIDv7, the same in every attempt and redelivery.
    def id
      to_h["id"]
    end

    # The job type, with dots between its parts.
    def type
      to_h["type"]
    end

    # The queue that the job is in.
    def queue
      to_h.fetch("queue", "default")
    end

    # Where the job is in its life; nil in a job that no server has seen.
    def state
      to_h["state"]
    end

    # The arguments.
    def args
      @args ||= Args.new(to_h["args"] || [])
    end

    # What travels with the job besides its arguments.
    def meta
      to_h["meta"] || {}
    end

    # Higher runs earlier.
    def priority
      to_h.fetch("priority", 0)
    end

    # The number of the attempt, 1 during the first run.
    def attempt
      to_h.fetch("attempt", 0)
    end

    # How many attempts there may be; nil when the server did not say.
    def max_attempts
      to_h["max_attempts"]
    end

    # Words to find the job by.
    def tags
      to_h["tags"] || []
    end

    # What the handler returned; nil when there is no result.
    def result
      to_h["result"]
    end

    # The latest failure; nil when no attempt has failed.
    def error
      to_h["error"]
    end

    # All failures, the oldest first.
    def errors
      to_h["errors"] || []
    end

    # The results of the steps before this one, in a workflow.
    def parent_results
      to_h["parent_results"] || []
    end

    # The workflow that the job belongs to; nil when it belongs to none.
    def workflow_id
      to_h["workflow_id"]
    end

    # The job's place in its train; nil when it runs in none.
    def train
      to_h["train"] && JobTrain.new(to_h["train"])
    end

    # When the job was created.
    def created_at
      to_h["created_at"]
    end

    # When the job was enqueued.
    def enqueued_at
      to_h["enqueued_at"]
    end

    # When the job may run; nil when it need not wait.
    def scheduled_at
      to_h["scheduled_at"]
    end

    # When the latest attempt began.
    def started_at
      to_h["started_at"]
    end

    # When the job was completed; nil when it was not.
    def completed_at
      to_h["completed_at"]
    end

    # When the job is thrown away unless it has started.
    def expires_at
      to_h["expires_at"]
    end

    # The most that one run may take, in milliseconds.
    def timeout_ms
      to_h["timeout_ms"]
    end
  end

  # Where a job stands in its train. The server decides all of it.
  class JobTrain < Record
    # The train's id.
    def id
      to_h["id"]
    end

    # The job's number in the train, from 1, in the order in which jobs joined it.
    def position
      to_h["position"]
    end

    # <tt>locomotive</tt>: the one job of the train that may run; <tt>car</tt>: it waits; <tt>left</tt>: its turn is
    # over.
    def role
      to_h["role"]
    end

    # How many jobs of the train run before it.
    def ahead
      to_h["ahead"]
    end

    # The state of the train: <tt>running</tt>, <tt>draining</tt> (a cancelled job still runs) or <tt>held</tt>.
    def state
      to_h["state"]
    end

    # A number that grows with every delivery of a job of this train. A resource that remembers the largest one can
    # refuse what the handler of an earlier delivery still sends: a fencing token. Only the locomotive has it.
    def epoch
      to_h["epoch"]
    end
  end

  # How a job ended, and what its handler returned.
  class JobResult < Record
    # The job's id.
    def job_id
      to_h["job_id"]
    end

    # Completed, discarded or cancelled.
    def state
      to_h["state"]
    end

    # Whether the job was completed.
    def ok?
      to_h["state"] == "completed"
    end

    # What the handler returned; nil when it returned nothing, or when its result is not kept.
    def result
      to_h["result"]
    end

    # The failure that ended the job; nil when none did.
    def error
      to_h["error"]
    end

    # How many attempts were begun.
    def attempt
      to_h.fetch("attempt", 0)
    end

    # When the result was stored.
    def stored_at
      to_h["result_stored_at"]
    end

    # When the result is removed; nil when it is kept.
    def expires_at
      to_h["result_expires_at"]
    end
  end

  # A workflow as the server describes it.
  class WorkflowStatus < Record
    # The workflow's id.
    def id
      to_h["id"]
    end

    # The name that it was given; nil without one.
    def name
      to_h["name"]
    end

    # <tt>chain</tt>, <tt>group</tt>, <tt>batch</tt> or <tt>graph</tt>.
    def type
      to_h["type"]
    end

    # The state, in the server's word.
    def state
      to_h["state"]
    end

    # The steps or jobs of the workflow.
    def steps
      to_h["steps"] || to_h["jobs"] || []
    end
  end

  # An event: a change of a job, queue, workflow or worker.
  class Event < Record
    # The id of the event, for reading on from it.
    def id
      to_h["id"]
    end

    # What happened, such as <tt>job.completed</tt>.
    def type
      to_h["type"]
    end

    # When it happened, in RFC 3339.
    def time
      to_h["time"]
    end

    # The id of the job or workflow, or the name of the queue or worker.
    def subject
      to_h["subject"]
    end

    # Everything else, by type of event.
    def data
      to_h["data"] || {}
    end
  end

  # What happened to one job of a bulk enqueue.
  class BulkItem < Record
    # The place of the job in the request, from 0.
    def index
      to_h["index"]
    end

    # <tt>created</tt>; <tt>duplicate</tt>, with the job that existed before; or <tt>failed</tt>.
    def status
      to_h["status"]
    end

    # The job; nil when it was refused.
    def job
      to_h["job"] && Job.new(to_h["job"])
    end

    # Why the job was refused; nil when it was not.
    def error
      to_h["error"] && Native.item_error(Wire.dump(to_h["error"]))
    end
  end

  # What a bulk cancel, retry or delete did.
  class BulkResult < Record
    # How many jobs were named or found.
    def matched
      to_h["total_matched"]
    end

    # How many jobs were left as they are; their items say why.
    def skipped
      to_h["skipped"]
    end
  end
end
