# frozen_string_literal: true

module OJS
  # The calls of a client about queues, limits, dead letters and schedules.
  module Administration
    # Jobs that one request of a purge removes: it takes a second or two, and a lost answer loses little.
    PURGE_SLICE = 10_000
    private_constant :PURGE_SLICE

    # All queues with their status.
    def list_queues
      list(call("GET", "/queues"), "queues")
    end

    # Counts by state.
    def queue_stats(name)
      member(call("GET", path("queues", name, "stats")), "queue")
    end

    # No job is handed out until resume_queue.
    def pause_queue(name)
      member(call("POST", path("queues", name, "pause"), {}), "queue")
    end

    # Hands jobs out again.
    def resume_queue(name)
      member(call("POST", path("queues", name, "resume"), {}), "queue")
    end

    # Creates a queue with settings: <tt>concurrency: 20</tt>, <tt>rate_limit: { limit: 100, period: "PT1M" }</tt>.
    def create_queue(name, **config)
      call("POST", "/queues", { name: name, config: config })
    end

    # A queue with its settings and counts.
    def get_queue(name)
      call("GET", path("queues", name))
    end

    # Sets what is named and leaves the rest; nil gives a setting back to the template, which is the queue <tt>_default</tt>.
    def configure_queue(name, **config)
      call("PUT", path("queues", name, "config"), config)
    end

    # Deletes a queue: one that holds jobs only when they may be discarded (<tt>strategy: "discard"</tt>), or moved
    # (<tt>strategy: "move", target_queue: "other"</tt>).
    def delete_queue(name, strategy: "reject", target_queue: nil)
      call("DELETE", query(path("queues", name), strategy: strategy, target_queue: target_queue))
    end

    # Accepts no more jobs and hands out those that are there, until resume_queue.
    def drain_queue(name)
      call("POST", path("queues", name, "drain"), {})
    end

    # Removes the jobs of a queue for ever that are in one of these states; returns how many. +older_than+ is a point in time, or a
    # length of time before now. What waits is cancelled first, so workflows move on; active jobs are never removed.
    def purge_queue(name, states, older_than: nil)
      body = { states: Array(states), older_than: ago(older_than), confirm: true, limit: PURGE_SLICE }
      purged = 0
      loop do
        answer = call("DELETE", path("admin", "queues", name, "jobs"), body)
        purged += member(answer, "purged_count")
        return purged unless answer["has_more"]
      end
    end

    # Keys with limits, and what is going on with them.
    def list_rate_limits
      list(call("GET", "/rate-limits?limit=200"), "items")
    end

    # A key with its limits, and how much of them is used.
    def get_rate_limit(key)
      call("GET", path("rate-limits", key))
    end

    # Gives a key other limits until +expires_at+: <tt>concurrency: 2</tt>. Without any limit the override ends.
    def override_rate_limit(key, expires_at: nil, **limits)
      limits[:expires_at] = Durations.time("expires_at", expires_at) if expires_at
      call("PUT", path("rate-limits", key), limits)
    end

    # Jobs that failed for good and were kept, newest first.
    def dead_letters(queue: nil, type: nil, limit: nil, offset: nil)
      jobs(call("GET", query("/dead-letter", queue: queue, type: type, limit: limit, offset: offset)))
    end

    # A dead letter by its id.
    def get_dead_letter(id)
      job(call("GET", path("dead-letter", id)))
    end

    # Runs it again, from attempt one.
    def retry_dead_letter(id)
      job(call("POST", path("dead-letter", id, "retry"), {}))
    end

    # Deletes it.
    def discard_dead_letter(id)
      call("DELETE", path("dead-letter", id))
      nil
    end

    # Runs all again that the filter finds, all of them without one; returns how many.
    def retry_dead_letters(queue: nil, type: nil, error_type: nil, since: nil, until: nil)
      filter = dead(queue, type, error_type, since, binding.local_variable_get(:until))
      member(call("POST", "/dead-letter/retry", { filter: filter, confirm: true }), "retried")
    end

    # Deletes all that the filter finds, all of them without one; returns how many.
    def discard_dead_letters(queue: nil, type: nil, error_type: nil, since: nil, until: nil)
      filter = dead(queue, type, error_type, since, binding.local_variable_get(:until))
      member(call("DELETE", query("/dead-letter", confirm: true, **filter)), "deleted")
    end

    # How many there are, by queue and type of error, and since when.
    def dead_letter_stats
      call("GET", "/dead-letter/stats")
    end

    # All schedules.
    def list_cron
      answer = call("GET", "/cron")
      answer["crons"] || answer["cron_jobs"] || answer["cron"] || []
    end

    # Enqueues +job+ whenever +expression+ matches; replaces a schedule of the same name. +overlap_policy+ says what happens while the
    # job before is not over: "skip" (the default), "allow", "cancel_previous" or "enqueue".
    #
    #   client.register_cron("digest", "0 7 * * 1-5", { type: "digest.send" }, timezone: "Europe/Prague")
    def register_cron(name, expression, job, timezone: nil, overlap_policy: nil, enabled: nil, description: nil)
      body = { name: name, expression: expression, job_template: JobRequest.of(job).to_h, timezone: timezone,
               overlap_policy: overlap_policy, enabled: enabled, description: description }.compact
      answer = call("POST", "/cron", body)
      answer.fetch("cron", answer)
    end

    # Ends a schedule.
    def delete_cron(name)
      call("DELETE", path("cron", name))
      nil
    end

    private

    def dead(queue, type, error_type, since, before)
      times = { since: since, until: before }.compact.to_h { |name, when_| [name, Durations.time(name, when_)] }
      { queue: queue, type: type, error_type: error_type, **times }.compact
    end

    # A time, or a length of time before now.
    def ago(older_than)
      older_than.is_a?(Numeric) ? Durations.text("older_than", older_than) : older_than && Durations.time("older_than", older_than)
    end
  end
  private_constant :Administration
end
