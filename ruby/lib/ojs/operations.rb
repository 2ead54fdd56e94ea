# frozen_string_literal: true

# Made from xtask/operations by make gen; do not edit.
module OJS
  # The methods of a client that are one request each. What they send is in xtask/operations.
  module Operations
    # Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter
    # names other states. Jobs that cannot be cancelled are skipped, and their items say why; with <tt>atomic</tt> one
    # such job keeps the others from being cancelled.
    #
    # * +job_ids+: The ids of the jobs.
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +states+: Only jobs in one of these states.
    # * +enqueued_after+: Only jobs enqueued after this time.
    # * +enqueued_before+: Only jobs enqueued before this time.
    # * +priority+: Only jobs of this priority.
    # * +meta+: Only jobs whose metadata has these members.
    # * +atomic+: All of the jobs, or none.
    #
    # Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.
    #
    #   client.bulk_cancel(queue: "reports")
    def bulk_cancel(job_ids = nil, atomic: false, **filter)
      BulkResult.new(call("POST", path("jobs", "bulk", "cancel"), { **Target.wire(job_ids, filter), **{ atomicity: atomicity(atomic) }.compact }))
    end

    # Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their
    # pause. Jobs that cannot be retried are skipped, and their items say why; with <tt>atomic</tt> one such job keeps
    # the others from being retried.
    #
    # * +job_ids+: The ids of the jobs.
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +states+: Only jobs in one of these states.
    # * +enqueued_after+: Only jobs enqueued after this time.
    # * +enqueued_before+: Only jobs enqueued before this time.
    # * +priority+: Only jobs of this priority.
    # * +meta+: Only jobs whose metadata has these members.
    # * +atomic+: All of the jobs, or none.
    #
    # Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.
    #
    #   client.bulk_retry(["019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"], atomic: true)
    def bulk_retry(job_ids = nil, atomic: false, **filter)
      BulkResult.new(call("POST", path("jobs", "bulk", "retry"), { **Target.wire(job_ids, filter), **{ atomicity: atomicity(atomic) }.compact }))
    end

    # Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are
    # skipped, and their items say why; with <tt>atomic</tt> one such job keeps the others from being deleted.
    #
    # * +job_ids+: The ids of the jobs.
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +states+: Only jobs in one of these states.
    # * +enqueued_after+: Only jobs enqueued after this time.
    # * +enqueued_before+: Only jobs enqueued before this time.
    # * +priority+: Only jobs of this priority.
    # * +meta+: Only jobs whose metadata has these members.
    # * +atomic+: All of the jobs, or none.
    #
    # Raises InvalidStateTransitionError, PayloadTooLargeError, InvalidRequestError.
    #
    #   client.bulk_delete(type: "email.*", states: ["completed", "cancelled"])
    def bulk_delete(job_ids = nil, atomic: false, **filter)
      BulkResult.new(call("POST", path("jobs", "bulk", "delete"), { **Target.wire(job_ids, filter), **{ atomicity: atomicity(atomic) }.compact }))
    end

    # The job with this id.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_job(id)
      job(call("GET", path("jobs", id)))
    end

    # Why a job is not running: a <tt>summary</tt>, and <tt>reasons</tt> in the order in which they have to end. Each
    # reason has <tt>code</tt> and <tt>message</tt>, and where they are known <tt>since</tt>, <tt>until</tt>,
    # <tt>link</tt> (a path of the API that shows what holds the job), <tt>command</tt> (one of the tool <tt>ojs</tt>
    # that helps) and <tt>details</tt>. A job that runs, has ended, or is handed out by the next fetch has no reasons.
    # The answer reads a bounded number of rows, however many jobs there are.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.explain_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def explain_job(id)
      call("GET", path("jobs", id, "explain"))
    end

    # One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is
    # another page while the page says that it has more. Jobs that come and go between two pages move the others, but
    # not after a <tt>cursor</tt>, which is the <tt>next_cursor</tt> of the page before. With a cursor, or with
    # <tt>count=false</tt>, a page looks at 5,000 rows at most and has no total: it may be short, or empty, say
    # <tt>complete: false</tt>, and have a <tt>next_cursor</tt> all the same. Pages with numbers look at a million
    # rows at most, count what is in the first 20,000, and begin at most 10,000 jobs behind the first. With
    # <tt>q</tt>, a page compares 1,000 jobs at most and always goes on by cursors; the guide of the dashboard has the
    # words of the language.
    #
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +state+: Only jobs in this state.
    # * +since+: Only jobs created at this time or later.
    # * +until+: Only jobs created before this time.
    # * +sort+: What the list is sorted by; <tt>created_at</tt> without it. It is "created_at", "scheduled_at" or
    #   "priority".
    # * +order+: The direction of the sort; <tt>desc</tt> without it: the newest or the highest priority first. It is
    #   "asc" or "desc".
    # * +page+: The number of the page. The first page is 1.
    # * +per_page+: The most jobs on one page, 1 to 100.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.list_jobs(queue: "mail", type: "email.*", state: "available", page: 2, per_page: 50)
    def list_jobs(queue: nil, type: nil, state: nil, since: nil, until: nil, sort: nil, order: nil, page: nil, per_page: nil)
      JobPage.new(call("GET", query(path("admin", "jobs"), queue: queue, type: type, state: state, since: time("since", since), until: time("until", binding.local_variable_get(:until)), sort: sort, order: order, page: page, per_page: per_page)))
    end

    # Cancels the job. A worker that runs it is told to stop.
    #
    # * +id+: The job's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.cancel_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def cancel_job(id)
      job(call("DELETE", path("jobs", id)))
    end

    # Changes the priority of a job that waits.
    #
    # * +id+: The job's id.
    # * +priority+: The new priority. Higher runs earlier.
    #
    # Raises InvalidStateTransitionError, NotFoundError, InvalidRequestError.
    #
    #   client.set_priority("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5)
    def set_priority(id, priority)
      job(call("PATCH", path("jobs", id), { priority: priority }.compact))
    end

    # Makes a job available that was enqueued as pending.
    #
    # * +id+: The job's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.activate_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def activate_job(id)
      job(call("POST", path("jobs", id, "activate"), {}))
    end

    # Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
    #
    # * +id+: The job's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.retry_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def retry_job(id)
      Job.answered(call("POST", path("admin", "jobs", id, "retry"), {}))
    end

    # How the job ended, and what its handler returned. The request is refused with status 408 while the job has not
    # ended, and with 410 when its result is no longer kept.
    #
    # * +id+: The job's id.
    #
    # Raises APIError, NotFoundError, InvalidRequestError.
    #
    #   client.result("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def result(id)
      # Sent once: a refusal with 408 is an answer here.
      JobResult.new(call("GET", path("jobs", id, "result"), nil, wait: 0.0))
    end

    # How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has not
    # ended, or whose result is no longer kept.
    #
    # * +job_ids+: The ids of the jobs.
    #
    # Raises PayloadTooLargeError, InvalidRequestError.
    #
    #   client.results(["019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"])
    def results(job_ids)
      list(call("POST", path("jobs", "results"), { ids: job_ids.to_a }.compact), "results").map { |one| one && JobResult.new(one) }
    end

    # The state of the workflow and of its steps.
    #
    # * +id+: The workflow's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_workflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_workflow(id)
      WorkflowStatus.new(member(call("GET", path("workflows", id)), "workflow"))
    end

    # Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
    #
    # * +id+: The workflow's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.cancel_workflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def cancel_workflow(id)
      WorkflowStatus.new(member(call("DELETE", path("workflows", id)), "workflow"))
    end

    # Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not listed.
    #
    # * +state+: Only workflows in this state. It is "pending", "running", "completed", "failed" or "cancelled".
    # * +page+: The number of the page. The first page is 1.
    # * +per_page+: The most workflows on one page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_workflows(state: "running", per_page: 50)
    def list_workflows(state: nil, page: nil, per_page: nil)
      list(call("GET", query(path("admin", "workflows"), state: state, page: page, per_page: per_page)), "items")
    end

    # All queues with their status.
    #
    #   client.list_queues
    def list_queues
      list(call("GET", query(path("queues"), pages: "all")), "queues")
    end

    # How many jobs of the queue are in which state.
    #
    # * +name+: The name of the queue.
    #
    #   client.queue_stats("mail")
    def queue_stats(name)
      member(call("GET", path("queues", name, "stats")), "queue")
    end

    # Stops handing out jobs of the queue until resume_queue. Jobs can still be enqueued. A queue that does not exist
    # is made, paused: the protocol answers 200 for every name. <tt>ojs queues pause</tt> asks first.
    #
    # * +name+: The name of the queue.
    #
    #   client.pause_queue("mail")
    def pause_queue(name)
      member(call("POST", path("queues", name, "pause"), {}), "queue")
    end

    # Hands out jobs of the queue again, and accepts new ones.
    #
    # * +name+: The name of the queue.
    #
    #   client.resume_queue("mail")
    def resume_queue(name)
      member(call("POST", path("queues", name, "resume"), {}), "queue")
    end

    # Creates a queue with settings, such as <tt>concurrency</tt>, <tt>max_size</tt>, <tt>rate_limit</tt> and
    # <tt>retention</tt>.
    #
    # * +name+: The name of the queue.
    # * +config+: The settings, by their names on the wire.
    #
    # Raises InvalidStateTransitionError, InvalidRequestError.
    #
    #   client.create_queue("mail", **{ concurrency: 20, rate_limit: { limit: 100, period: "PT1M" } })
    def create_queue(name, **config)
      call("POST", path("queues"), { name: name, config: config }.compact)
    end

    # A queue with its settings and counts.
    #
    # * +name+: The name of the queue.
    #
    # Raises NotFoundError.
    #
    #   client.get_queue("mail")
    def get_queue(name)
      call("GET", path("queues", name))
    end

    # Changes the settings that are named and leaves the others. A setting of null goes back to the template, the
    # queue <tt>_default</tt>.
    #
    # * +name+: The name of the queue.
    # * +config+: The settings, by their names on the wire.
    #
    # Raises InvalidRequestError.
    #
    #   client.configure_queue("mail", **{ max_size: 1000 })
    def configure_queue(name, **config)
      call("PUT", path("queues", name, "config"), config)
    end

    # Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
    #
    # * +name+: The name of the queue.
    # * +strategy+: What happens to the jobs of the queue. It is "reject", "discard" or "move". Without it: "reject".
    # * +target_queue+: Where the jobs go, for the strategy <tt>move</tt>.
    #
    # Raises InvalidStateTransitionError, NotFoundError, InvalidRequestError.
    #
    #   client.delete_queue("mail", strategy: "move", target_queue: "letters")
    def delete_queue(name, strategy: "reject", target_queue: nil)
      call("DELETE", query(path("queues", name), strategy: strategy, target_queue: target_queue))
    end

    # Accepts no more jobs for the queue and hands out those that are in it, until resume_queue.
    #
    # * +name+: The name of the queue.
    #
    #   client.drain_queue("mail")
    def drain_queue(name)
      call("POST", path("queues", name, "drain"), {})
    end

    # Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought
    # back. Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.
    #
    # * +name+: The name of the queue.
    # * +states+: The states of the jobs to remove.
    # * +older_than+: Only jobs older than this: a time, or a length of time before now. A length of time is seconds
    #   or text.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.purge_queue("reports", ["completed", "cancelled"], older_than: "PT1H")
    def purge_queue(name, states, older_than: nil)
      body = { states: Array(states), older_than: age("older_than", older_than), confirm: true, limit: 10000 }.compact
      found = 0
      loop do
        answer = call("DELETE", path("admin", "queues", name, "jobs"), body)
        found += member(answer, "purged_count")
        return found unless answer["has_more"]
      end
    end

    # How the jobs of a queue are shared: by tenant or by key, and with which weights.
    #
    # * +name+: The name of the queue.
    #
    # Raises NotFoundError.
    #
    #   client.get_fairness("mail")
    def get_fairness(name)
      call("GET", path("admin", "queues", name, "fairness"))
    end

    # Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in
    # turn, in proportion to their weights. The settings are <tt>by</tt> (<tt>tenant</tt>, the default, or
    # <tt>key</tt>: the <tt>fairness_key</tt> of a job, and its tenant where it names none), <tt>weights</tt> by id of
    # the tenant or by key (1 to 1000, at most 100), and <tt>default_weight</tt> for all others (1). A tenant without
    # a weight has the <tt>fairness_weight</tt> of its limits. What is left out has its default, and <tt>enabled</tt>
    # of <tt>false</tt> ends the sharing. The answer is 201 when the queue was not shared before.
    #
    # * +name+: The name of the queue. It is made when there is none.
    # * +sharing+: The settings, by their names on the wire.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.set_fairness("mail", **{ by: "tenant", weights: { acme: 4 } })
    def set_fairness(name, **sharing)
      call("PUT", path("admin", "queues", name, "fairness"), sharing)
    end

    # Ends the sharing of a queue: its jobs are handed out in their order again.
    #
    # * +name+: The name of the queue.
    #
    # Raises NotFoundError.
    #
    #   client.delete_fairness("mail")
    def delete_fairness(name)
      call("DELETE", path("admin", "queues", name, "fairness"))
      nil
    end

    # The keys that have limits, with how much of each limit is used.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_rate_limits
    def list_rate_limits
      list(call("GET", query(path("rate-limits"), limit: 200, pages: "all")), "items")
    end

    # The limits of a key, with how much of each is used.
    #
    # * +key+: The key.
    #
    # Raises NotFoundError.
    #
    #   client.get_rate_limit("stripe")
    def get_rate_limit(key)
      call("GET", path("rate-limits", key))
    end

    # Gives a key other limits until a time, for example <tt>concurrency</tt> 2. Without any limit the override ends.
    #
    # * +key+: The key.
    # * +limits+: The limits, by their names on the wire.
    # * +expires_at+: When the override ends.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.override_rate_limit("stripe", **{ concurrency: 2 }, expires_at: "2031-01-01T00:00:00Z")
    def override_rate_limit(key, expires_at: nil, **limits)
      call("PUT", path("rate-limits", key), { **limits, **{ expires_at: time("expires_at", expires_at) }.compact })
    end

    # Jobs that failed for good and were kept, the newest first. Where more than 20,000 dead letters are kept, a
    # filter is compared with 20,000 of them at a time. The answer says so: <tt>total_relation</tt> is <tt>gte</tt>,
    # and <tt>total</tt> counts what was found among the newest 20,000. A page may be short then, or empty;
    # <tt>next_cursor</tt> leads on while it is there.
    #
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type.
    # * +limit+: The most jobs in the answer, 1 to 200; 50 without it.
    # * +offset+: How many jobs are passed over.
    #
    # Raises InvalidRequestError.
    #
    #   client.dead_letters(queue: "mail", limit: 10, offset: 20)
    def dead_letters(queue: nil, type: nil, limit: nil, offset: nil)
      jobs(call("GET", query(path("dead-letter"), queue: queue, type: type, limit: limit, offset: offset)))
    end

    # The dead letter with this id.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_dead_letter(id)
      job(call("GET", path("dead-letter", id)))
    end

    # Runs a dead letter again, with all its attempts.
    #
    # * +id+: The job's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError, PayloadTooLargeError, InvalidRequestError.
    #
    #   client.retry_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def retry_dead_letter(id)
      job(call("POST", path("dead-letter", id, "retry"), {}))
    end

    # Deletes a dead letter. It cannot be brought back.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.discard_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def discard_dead_letter(id)
      call("DELETE", path("dead-letter", id))
      nil
    end

    # Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.
    #
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +error_type+: Only jobs whose last error is of this type.
    # * +since+: Only jobs discarded at this time or later.
    # * +until+: Only jobs discarded before this time.
    #
    # Raises InvalidRequestError.
    #
    #   client.retry_dead_letters(queue: "mail", error_type: "Timeout", since: "2031-01-01T00:00:00Z")
    def retry_dead_letters(queue: nil, type: nil, error_type: nil, since: nil, until: nil)
      member(call("POST", path("dead-letter", "retry"), { filter: { queue: queue, type: type, error_type: error_type, since: time("since", since), until: time("until", binding.local_variable_get(:until)) }.compact, confirm: true }.compact), "retried")
    end

    # Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.
    #
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +error_type+: Only jobs whose last error is of this type.
    # * +since+: Only jobs discarded at this time or later.
    # * +until+: Only jobs discarded before this time.
    #
    # Raises InvalidRequestError.
    #
    #   client.discard_dead_letters(type: "email.*", until: "2031-01-01T00:00:00Z")
    def discard_dead_letters(queue: nil, type: nil, error_type: nil, since: nil, until: nil)
      member(call("DELETE", query(path("dead-letter"), queue: queue, type: type, error_type: error_type, since: time("since", since), until: time("until", binding.local_variable_get(:until)), confirm: true)), "deleted")
    end

    # How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000 are kept,
    # the numbers in <tt>by_error_type</tt> are those of the newest 20,000: <tt>by_error_type_relation</tt> is
    # <tt>gte</tt>. A caller of a tenant gets all numbers so, with <tt>total_relation</tt> and
    # <tt>by_queue_relation</tt>.
    #
    #   client.dead_letter_stats
    def dead_letter_stats
      call("GET", path("dead-letter", "stats"))
    end

    # What would come of running dead letters again: which would be refused, which would wait and for what, and which
    # would run although an enqueue of the same job would be refused. Nothing is changed. <tt>matched</tt> dead
    # letters are meant (at least so many where <tt>matched_relation</tt> is <tt>gte</tt>: a filter is compared with
    # 20,000), of which the newest 500 are looked at (<tt>looked_at</tt>, <tt>complete</tt>). Of these
    # <tt>would_run</tt>, <tt>would_wait</tt> and <tt>would_be_refused</tt> say how many; <tt>with_warnings</tt> run
    # or wait beside that. Each of <tt>reasons</tt> has <tt>code</tt>, <tt>effect</tt> (<tt>refused</tt>,
    # <tt>waits</tt> or <tt>warning</tt>), <tt>message</tt>, the number of <tt>jobs</tt>, the first of them as
    # <tt>job_id</tt> and, where there is one, the <tt>command</tt> that helps. <tt>jobs</tt> has the first 20 jobs
    # that meet one. Limits that free themselves as jobs end (full workers, concurrency, rates) are no reason.
    #
    # * +queue+: Only jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +error_type+: Only jobs whose last error is of this type.
    # * +since+: Only jobs discarded at this time or later.
    # * +until+: Only jobs discarded before this time.
    # * +jobs+: These jobs instead: their ids with commas between them, 100 at most.
    #
    # Raises InvalidRequestError.
    #
    #   client.preview_dead_letters(queue: "mail", error_type: "Timeout")
    def preview_dead_letters(queue: nil, type: nil, error_type: nil, since: nil, until: nil, jobs: nil)
      call("GET", query(path("dead-letter", "preview"), queue: queue, type: type, error_type: error_type, since: time("since", since), until: time("until", binding.local_variable_get(:until)), job_ids: jobs))
    end

    # All cron entries.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_cron
    def list_cron
      crons(call("GET", query(path("cron"), pages: "all")))
    end

    # The cron entry of this name.
    #
    # * +name+: The name of the entry.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.get_cron("digest")
    def get_cron(name)
      cron(call("GET", path("cron", name)))
    end

    # Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
    #
    # * +name+: The name of the entry.
    # * +enabled+: Whether the entry enqueues jobs.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.enable_cron("digest", false)
    def enable_cron(name, enabled)
      cron(call("PATCH", path("cron", name), { enabled: enabled }.compact))
    end

    # Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The overlap
    # policy holds: while the latest job of the entry goes on, <tt>skip</tt> and <tt>enqueue</tt> answer with 409
    # <tt>conflict</tt>, and <tt>cancel_previous</tt> cancels that job.
    #
    # * +name+: The name of the entry.
    #
    # Raises NotFoundError.
    #
    #   client.run_cron("digest")
    def run_cron(name)
      # Sent once: a refusal with 408 is an answer here.
      job(call("POST", path("cron", name, "run"), {}))
    end

    # Deletes the cron entry. The jobs that it has enqueued stay.
    #
    # * +name+: The name of the entry.
    #
    # Raises NotFoundError.
    #
    #   client.delete_cron("digest")
    def delete_cron(name)
      call("DELETE", path("cron", name))
      nil
    end

    # The workers that the server knows, with what each of them does.
    #
    # * +state+: Only workers in this state.
    # * +page+: The number of the page. The first page is 1.
    # * +per_page+: The most workers on one page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_workers(state: "running", page: 1, per_page: 100)
    def list_workers(state: nil, page: nil, per_page: nil)
      list(call("GET", query(path("admin", "workers"), state: state, page: page, per_page: per_page)), "items")
    end

    # The worker with this id.
    #
    # * +id+: The worker's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_worker("mail-1")
    def get_worker(id)
      call("GET", path("admin", "workers", id))
    end

    # Tells a worker to take no more jobs (<tt>quiet</tt>), to stop (<tt>terminate</tt>), or to take jobs again
    # (<tt>resume</tt>). The worker hears of it with its next heartbeat.
    #
    # * +id+: The worker's id.
    # * +directive+: What the worker shall do. It is "quiet", "terminate" or "resume".
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.direct_worker("mail-1", "quiet")
    def direct_worker(id, directive)
      call("POST", path("admin", "workers", id, directive), {})
    end

    # Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
    #
    # * +id+: The worker's id.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.remove_worker("mail-1")
    def remove_worker(id)
      call("DELETE", path("admin", "workers", id))
    end

    # Whether the server works, with its version, its store and how long it has run.
    #
    # Raises APIError.
    #
    #   client.health
    def health
      call("GET", path("health"))
    end

    # What the server is, and what it can do.
    #
    #   client.manifest
    def manifest
      call("GET", "/ojs/manifest")
    end

    # Jobs by state, throughput, latency and workers of the whole server.
    #
    #   client.server_stats
    def server_stats
      call("GET", path("admin", "stats"))
    end

    # Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
    #
    # * +period+: The length of each period; <tt>1m</tt> without it. It is "1m", "5m", "1h" or "1d".
    # * +queue+: Only this queue.
    # * +since+: From this time on.
    # * +until+: Up to this time.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.stats_history(period: "1h", queue: "mail", since: "2031-01-01T00:00:00Z")
    def stats_history(period: nil, queue: nil, since: nil, until: nil)
      list(call("GET", query(path("admin", "stats", "history"), period: period, queue: queue, since: time("since", since), until: time("until", binding.local_variable_get(:until)))), "items")
    end

    # What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An item
    # has <tt>type</tt>, <tt>enqueued</tt>, <tt>processed</tt>, <tt>failed</tt>, <tt>discarded</tt>, <tt>busy_ms</tt>
    # (the time that completed attempts have taken), <tt>latency_ms</tt> and <tt>wait_ms</tt> with <tt>p50</tt>,
    # <tt>p95</tt> and <tt>p99</tt>. In a minute and in an hour 200 types are told apart; the others are the type
    # <tt>_other</tt>. Figures are kept by minutes for two hours and by hours for 30 days, so an earlier
    # <tt>since</tt> counts from the beginning of its hour.
    #
    # * +since+: From this time on; an hour ago without it.
    # * +until+: Up to this time, at most 7 days later; now without it.
    # * +sort+: What comes first, the largest: <tt>processed</tt> (the default), <tt>enqueued</tt>, <tt>failed</tt>,
    #   <tt>discarded</tt>, <tt>busy</tt>, <tt>latency</tt> or <tt>wait</tt>.
    # * +limit+: The most types in the answer, 1 to 200; 50 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.type_stats(since: "2031-01-01T00:00:00Z", sort: "failed", limit: 20)
    def type_stats(since: nil, until: nil, sort: nil, limit: nil)
      list(call("GET", query(path("admin", "stats", "types"), since: time("since", since), until: time("until", binding.local_variable_get(:until)), sort: sort, limit: limit)), "items")
    end

    # Whether the server is in maintenance, since when and why.
    #
    #   client.maintenance
    def maintenance
      call("GET", path("admin", "system", "maintenance"))
    end

    # Begins or ends maintenance. During it jobs are accepted, and none is handed out.
    #
    # * +enabled+: Whether the server is in maintenance.
    # * +reason+: Why, for those who ask.
    # * +estimated_duration+: How long it will take, such as <tt>PT30M</tt>.
    #
    # Raises InvalidRequestError.
    #
    #   client.set_maintenance(true, reason: "moving the database", estimated_duration: "PT30M")
    def set_maintenance(enabled, reason: nil, estimated_duration: nil)
      call("POST", path("admin", "system", "maintenance"), { enabled: enabled, reason: reason, estimated_duration: length("estimated_duration", estimated_duration) }.compact)
    end

    # Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their
    # bodies, workflows with their steps, and so on. <tt>sound</tt> is true when nothing contradicts anything.
    # <tt>findings</tt> has the first 1,000 contradictions, each with the check, the row, what was compared, and both
    # values; <tt>total</tt> counts them all. The time grows with the number of jobs. It takes one of the two
    # connections for lists and searches; everything else goes on, but for a store in memory, where all wait.
    #
    #   client.audit
    def audit
      call("GET", path("admin", "system", "audit"))
    end

    # The settings that the server runs with. There are no secrets among them.
    #
    #   client.server_config
    def server_config
      call("GET", path("admin", "system", "config"))
    end

    # The registered schemas of all job types, without their texts, in order of job type and version.
    #
    #   client.list_schemas
    def list_schemas
      list(call("GET", query(path("schemas"), limit: 200, pages: "all")), "schemas")
    end

    # Registers the JSON Schema of the arguments of a job type. A registered version never changes. With <tt>mode</tt>
    # <tt>strict</tt> jobs that do not match are refused, with <tt>warn</tt>, the default, they are accepted with
    # warnings, with <tt>off</tt> they are not compared. Within a major version, a schema that refuses what the
    # version before accepted is refused itself.
    #
    # * +type+: The job type.
    # * +version+: The version: <tt>2</tt>, <tt>2.1</tt> or <tt>2.1.0</tt>.
    # * +schema+: A JSON Schema, draft 2020-12, for the array of arguments.
    # * +mode+: What happens to jobs that do not match. It is "strict", "warn" or "off".
    #
    # Raises InvalidStateTransitionError, InvalidRequestError.
    #
    #   client.register_schema("email.send", "1.0.0", { items: { type: "string" }, minItems: 1 }, mode: "strict")
    def register_schema(type, version, schema, mode: nil)
      member(call("POST", path("schemas"), { job_type: type, version: version, schema: schema, mode: mode }.compact), "schema")
    end

    # The schema of the highest version of a job type.
    #
    # * +type+: The job type, or the URI of a schema.
    #
    # Raises NotFoundError.
    #
    #   client.get_schema("email.send")
    def get_schema(type)
      member(call("GET", path("schemas", type)), "schema")
    end

    # The schema of a version of a job type.
    #
    # * +type+: The job type.
    # * +version+: The version.
    #
    # Raises NotFoundError.
    #
    #   client.get_schema_version("email.send", "1.0.0")
    def get_schema_version(type, version)
      member(call("GET", path("schemas", type, version)), "schema")
    end

    # The versions of a job type, highest first.
    #
    # * +type+: The job type.
    #
    # Raises NotFoundError.
    #
    #   client.list_schema_versions("email.send")
    def list_schema_versions(type)
      list(call("GET", path("schemas", type, "versions")), "versions")
    end

    # Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
    #
    # * +type+: The job type.
    # * +version+: The version.
    # * +mode+: <tt>strict</tt>, <tt>warn</tt> or <tt>off</tt>. It is "strict", "warn" or "off".
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.set_schema_mode("email.send", "1.0.0", "strict")
    def set_schema_mode(type, version, mode)
      member(call("PATCH", path("schemas", type, version), { mode: mode }.compact), "schema")
    end

    # Deletes a version. Jobs that were stored under it stay.
    #
    # * +type+: The job type.
    # * +version+: The version.
    #
    # Raises NotFoundError.
    #
    #   client.delete_schema("email.send", "1.0.0")
    def delete_schema(type, version)
      call("DELETE", path("schemas", type, version))
      nil
    end

    # The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first
    # comes first.
    #
    # * +state+: Only trains in this state: <tt>running</tt>, <tt>draining</tt> or <tt>held</tt>.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_trains(state: "held")
    def list_trains(state: nil)
      list(call("GET", query(path("trains"), state: state, limit: 200, pages: "all")), "trains")
    end

    # A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they
    # run.
    #
    # * +id+: The id of the train.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.get_train("dest_7")
    def get_train(id)
      call("GET", path("trains", id))
    end

    # Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
    #
    # * +id+: The id of the train.
    # * +job_id+: Only if this job is the locomotive.
    #
    # Raises InvalidStateTransitionError, NotFoundError, InvalidRequestError.
    #
    #   client.advance_train("dest_7", job_id: "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def advance_train(id, job_id: nil)
      call("POST", path("trains", id, "advance"), { job_id: job_id, confirm: true }.compact)
    end

    # Holds a train: a job of it that runs may end, and no further one starts until advance_train.
    #
    # * +id+: The id of the train.
    #
    # Raises NotFoundError.
    #
    #   client.hold_train("dest_7")
    def hold_train(id)
      call("POST", path("trains", id, "hold"), {})
    end

    # The tenants of the server by id, with the number of their jobs and their limits.
    #
    # * +page+: The page, from 1.
    # * +per_page+: The most tenants on the page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_tenants(page: 2, per_page: 50)
    def list_tenants(page: nil, per_page: nil)
      list(call("GET", query(path("admin", "tenants"), page: page, per_page: per_page)), "items")
    end

    # A tenant with its status, its limits and the number of its jobs by state.
    #
    # * +id+: The id of the tenant.
    #
    # Raises NotFoundError.
    #
    #   client.get_tenant("acme")
    def get_tenant(id)
      call("GET", path("admin", "tenants", id))
    end

    # Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
    #
    # * +id+: The id of the tenant.
    # * +changes+: Its members: <tt>name</tt> (for people), <tt>limits</tt> (as in <tt>PUT
    #   /admin/tenants/{id}/limits</tt>), <tt>fairness_weight</tt> (which leaves the other limits as they are) and
    #   <tt>status</tt> (<tt>active</tt> or <tt>suspended</tt>).
    #
    # Raises InvalidRequestError.
    #
    #   client.put_tenant("acme", **{ limits: { max_concurrency: 10 }, name: "Acme Ltd.", status: "active" })
    def put_tenant(id, **changes)
      call("PUT", path("admin", "tenants", id), changes)
    end

    # Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
    #
    # * +id+: The id of the tenant.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.delete_tenant("acme")
    def delete_tenant(id)
      call("DELETE", path("admin", "tenants", id))
    end

    # Sets what a tenant may use: <tt>max_concurrency</tt>, <tt>max_enqueue_rate</tt>, <tt>max_queue_depth</tt> and
    # <tt>max_scheduled</tt>; and <tt>fairness_weight</tt>, its weight in shared queues. What the body leaves out is
    # not limited any more. Jobs that have more than the new limits allow stay.
    #
    # * +id+: The id of the tenant.
    # * +limits+: Its members: <tt>max_concurrency</tt> (jobs that are active at a time), <tt>max_enqueue_rate</tt>
    #   (<tt>limit</tt> jobs in each <tt>period</tt>, an ISO 8601 duration), <tt>max_queue_depth</tt> (jobs that wait,
    #   in all queues together), <tt>max_scheduled</tt>, and <tt>fairness_weight</tt> (jobs that it gets while a
    #   tenant of weight 1 gets one, in queues that tenants share: 1 to 1,000); and <tt>reason</tt>, a text for the
    #   log of the server.
    #
    # Raises InvalidRequestError.
    #
    #   client.set_tenant_limits("acme", **{ max_concurrency: 10, max_enqueue_rate: { limit: 100, period: "PT1S" }, max_queue_depth: 10000, max_scheduled: 500 })
    def set_tenant_limits(id, **limits)
      call("PUT", path("admin", "tenants", id, "limits"), limits)
    end

    # Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.
    #
    # * +id+: The id of the tenant.
    #
    # Raises NotFoundError.
    #
    #   client.suspend_tenant("acme")
    def suspend_tenant(id)
      call("POST", path("admin", "tenants", id, "suspend"), {})
    end

    # Ends the suspension of a tenant: its jobs are taken and handed out again.
    #
    # * +id+: The id of the tenant.
    #
    # Raises NotFoundError.
    #
    #   client.resume_tenant("acme")
    def resume_tenant(id)
      call("POST", path("admin", "tenants", id, "resume"), {})
    end

    # What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
    #
    # * +id+: The id of the tenant, or <tt>_default</tt>.
    #
    # Raises NotFoundError.
    #
    #   client.tenant_stats("acme")
    def tenant_stats(id)
      call("GET", path("admin", "tenants", id, "stats"))
    end

    # The jobs of a tenant, newest first; with the filters of <tt>GET /admin/jobs</tt>.
    #
    # * +id+: The id of the tenant, or <tt>_default</tt>.
    # * +queue+: Only this queue.
    # * +state+: Only this state.
    # * +page+: The page, from 1.
    # * +per_page+: The most jobs on the page, 1 to 100; 20 without it.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.tenant_jobs("acme", queue: "mail", state: "available", page: 1, per_page: 10)
    def tenant_jobs(id, queue: nil, state: nil, page: nil, per_page: nil)
      JobPage.new(call("GET", query(path("admin", "tenants", id, "jobs"), queue: queue, state: state, page: page, per_page: per_page)))
    end

    # Tenants that use far more than the others do, those with the most signals first. Each tenant that has jobs, or
    # had some in the last five minutes, is compared with the others. An item has <tt>tenant_id</tt>,
    # <tt>signals</tt>, <tt>queue_depth</tt>, <tt>active</tt>, <tt>error_rate</tt>, and jobs per minute; a signal has
    # <tt>signal</tt> (<tt>queue_depth_ratio</tt>, <tt>enqueue_rate_ratio</tt>, <tt>active_job_ratio</tt> or
    # <tt>error_rate</tt>), <tt>value</tt>, <tt>compared_with</tt>, <tt>ratio</tt> (null where the others have none)
    # and <tt>threshold</tt>. The default tenant is left out. Nothing is read of jobs.
    #
    # * +depth_factor+: The signal is more waiting jobs than so many times the median of the others; 10 without it.
    # * +rate_factor+: The signal is more jobs enqueued lately than so many times the average of the others; 5 without
    #   it.
    # * +active_percent+: The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without it.
    # * +error_factor+: The signal is a larger share of failed attempts than so many times that of the others; 3
    #   without it.
    # * +min_jobs+: With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a tenth
    #   of it that are active or failed; 100 without it.
    # * +limit+: The most tenants in the answer, 1 to 1,000; 100 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.noisy_tenants(depth_factor: 20, min_jobs: 50, limit: 10)
    def noisy_tenants(depth_factor: nil, rate_factor: nil, active_percent: nil, error_factor: nil, min_jobs: nil, limit: nil)
      list(call("GET", query(path("admin", "stats", "tenants", "noisy"), depth_factor: depth_factor, rate_factor: rate_factor, active_percent: active_percent, error_factor: error_factor, min_jobs: min_jobs, limit: limit)), "items")
    end

    # The subscriptions, the oldest first, without their secrets. <tt>dropped</tt> says how many events became no
    # delivery because too many deliveries waited for the subscription; <tt>dropped_since</tt> when the first of them
    # happened, or null.
    #
    #   client.list_webhooks
    def list_webhooks
      list(call("GET", query(path("webhooks", "subscriptions"), limit: 200, pages: "all")), "subscriptions")
    end

    # Creates a subscription: events are sent to <tt>url</tt> as signed POST requests. Only this answer has the
    # secret. Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx:
    # eight attempts within 41 hours. <tt>filter</tt> is an object with <tt>queues</tt> and <tt>job_types</tt>. The
    # URL must begin with https:// and lead to a public address, unless the server allows others.
    #
    # * +subscription+: Its members: <tt>url</tt> and <tt>events</tt> (such as <tt>job.completed</tt>, <tt>job.*</tt>
    #   or <tt>*</tt>); if wanted <tt>secret</tt> (8 to 255 characters; without it the server makes one),
    #   <tt>filter</tt>, <tt>metadata</tt> (an object of at most 4096 bytes), <tt>active</tt> and <tt>format</tt>
    #   (<tt>ojs</tt>, <tt>cloudevents</tt> or <tt>cloudevents-binary</tt>).
    #
    # Raises InvalidStateTransitionError, InvalidRequestError.
    #
    #   client.create_webhook(**{ events: ["job.completed", "job.failed"], secret: "whsec_test_secret", url: "https://example.com/hooks/ojs" })
    def create_webhook(**subscription)
      member(call("POST", path("webhooks", "subscriptions"), subscription), "subscription")
    end

    # A subscription, without its secret. <tt>dropped</tt> says how many events became no delivery because too many
    # deliveries waited for it; <tt>dropped_since</tt> when the first of them happened, or null.
    #
    # * +id+: The id of the subscription, <tt>sub_…</tt>.
    #
    # Raises NotFoundError.
    #
    #   client.get_webhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_webhook(id)
      member(call("GET", path("webhooks", "subscriptions", id)), "subscription")
    end

    # Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription that is
    # not active gets no new deliveries, and those that wait are not sent until it is active again.
    #
    # * +id+: The id of the subscription.
    # * +changes+: The members that change: <tt>url</tt>, <tt>events</tt>, <tt>active</tt>, <tt>filter</tt>,
    #   <tt>metadata</tt>, <tt>format</tt>.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.update_webhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", **{ events: ["job.*"] })
    def update_webhook(id, **changes)
      member(call("PATCH", path("webhooks", "subscriptions", id), changes), "subscription")
    end

    # Deletes a subscription and its deliveries: nothing more is sent to it.
    #
    # * +id+: The id of the subscription.
    #
    # Raises NotFoundError.
    #
    #   client.delete_webhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def delete_webhook(id)
      call("DELETE", path("webhooks", "subscriptions", id))
      nil
    end

    # Sends an event <tt>webhook.test</tt> now, once, and answers with what the endpoint said: <tt>success</tt>,
    # <tt>status_code</tt>, <tt>response_time_ms</tt>, <tt>response_body</tt>.
    #
    # * +id+: The id of the subscription.
    #
    # Raises NotFoundError.
    #
    #   client.test_webhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def test_webhook(id)
      call("POST", path("webhooks", "subscriptions", id, "test"), {})
    end

    # Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new one.
    #
    # * +id+: The id of the subscription.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.rotate_webhook_secret("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def rotate_webhook_secret(id)
      member(call("POST", path("webhooks", "subscriptions", id, "rotate-secret"), {}), "subscription")
    end

    # Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day, dead ones
    # for 30 days. <tt>total</tt> counts at most 10000.
    #
    # * +subscription_id+: Only of this subscription.
    # * +status+: Only in this state. It is "pending", "sending", "delivered" or "dead".
    # * +limit+: The most deliveries in the answer, 1 to 200.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.list_webhook_deliveries(status: "dead", limit: 50)
    def list_webhook_deliveries(subscription_id: nil, status: nil, limit: nil)
      list(call("GET", query(path("webhooks", "deliveries"), subscription_id: subscription_id, status: status, limit: limit)), "deliveries")
    end

    # A delivery with its event, and how its latest attempt ended.
    #
    # * +id+: The id of the delivery, <tt>del_…</tt>.
    #
    # Raises NotFoundError.
    #
    #   client.get_webhook_delivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_webhook_delivery(id)
      member(call("GET", path("webhooks", "deliveries", id)), "delivery")
    end

    # Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
    # waiting.
    #
    # * +id+: The id of the delivery.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.retry_webhook_delivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def retry_webhook_delivery(id)
      member(call("POST", path("webhooks", "deliveries", id, "retry"), {}), "delivery")
    end

    # How far the latest attempt of a job has come: <tt>progress</tt> from 0 to 1, <tt>data</tt>, <tt>message</tt> and
    # <tt>updated_at</tt>, which are null when nothing was reported.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_progress("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_progress(id)
      call("GET", path("jobs", id, "progress"))
    end

    # How far a workflow has come: <tt>progress</tt> from 0 to 1, and the progress of each of its <tt>steps</tt>. Of a
    # chain it is the completed steps and the fraction of the current one, of a group the mean of its steps, of a
    # batch the share of its jobs that have ended.
    #
    # * +id+: The workflow's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_workflow_progress("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_workflow_progress(id)
      call("GET", path("workflows", id, "progress"))
    end

    # Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered, and
    # the next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under its
    # lease. This method is for other programs, which have no lease: it is refused while a worker with lease tokens
    # holds the job, and when the job has ended.
    #
    # * +id+: The job's id.
    # * +state+: JSON of at most 1 MiB.
    #
    # Raises InvalidStateTransitionError, NotFoundError, PayloadTooLargeError, InvalidRequestError.
    #
    #   client.save_checkpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", { cursor: "abc-750", rows: 750 })
    def save_checkpoint(id, state)
      call("PUT", path("jobs", id, "checkpoint"), { state: state }.compact)
    end

    # The checkpoint of a job: <tt>state</tt>, <tt>sequence</tt> and <tt>created_at</tt>. It can be read as long as
    # the job.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_checkpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_checkpoint(id)
      call("GET", path("jobs", id, "checkpoint"))
    end

    # Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.delete_checkpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def delete_checkpoint(id)
      call("DELETE", path("jobs", id, "checkpoint"))
      nil
    end

    # The endpoints that jobs are sent to, the oldest first, without their secrets. <tt>status</tt> is
    # <tt>active</tt>, <tt>failing</tt>, <tt>open</tt> (sent nothing for a minute after five failures),
    # <tt>probing</tt>, <tt>waiting</tt> (it has asked for a pause), <tt>disabled</tt> (it answered 401, 403, 404 or
    # 410) or <tt>paused</tt>; <tt>last_failure</tt> says why.
    #
    #   client.list_push_endpoints
    def list_push_endpoints
      list(call("GET", query(path("push", "endpoints"), limit: 200, pages: "all")), "endpoints")
    end

    # Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the
    # secret. A job is active under a lease before it is sent, and the answer settles it. The address must begin with
    # https:// and be public, unless the server allows others.
    #
    # * +endpoint+: Its members: <tt>endpoint</tt> (the URL, or <tt>sqs:</tt> and the URL of a queue of Amazon SQS)
    #   and <tt>job_types</tt> (<tt>*</tt> stands for any characters); if wanted <tt>queues</tt>, <tt>config</tt>
    #   (<tt>max_concurrency</tt>, <tt>timeout_ms</tt>, <tt>signing_secret</tt>, <tt>weight</tt>, <tt>retry_429</tt>),
    #   <tt>routing</tt>, <tt>provider</tt> and <tt>active</tt>.
    #
    # Raises InvalidStateTransitionError, InvalidRequestError.
    #
    #   client.create_push_endpoint(**{ config: { max_concurrency: 100, signing_secret: "whsec_test_secret", timeout_ms: 30000 }, endpoint: "https://example.com/functions/jobs", job_types: ["email.send", "report.*"], queues: ["default"] })
    def create_push_endpoint(**endpoint)
      member(call("POST", path("push", "endpoints"), endpoint), "push_endpoint")
    end

    # An endpoint, without its secret.
    #
    # * +id+: The id of the endpoint, <tt>push_…</tt>.
    #
    # Raises NotFoundError.
    #
    #   client.get_push_endpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_push_endpoint(id)
      member(call("GET", path("push", "endpoints", id)), "push_endpoint")
    end

    # Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again. With
    # <tt>active</tt> false it is sent nothing; its jobs stay available for workers that fetch.
    #
    # * +id+: The id of the endpoint.
    # * +changes+: The members that change: <tt>endpoint</tt>, <tt>job_types</tt>, <tt>queues</tt>, <tt>config</tt>,
    #   <tt>routing</tt>, <tt>provider</tt>, <tt>active</tt>.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.update_push_endpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", **{ active: false })
    def update_push_endpoint(id, **changes)
      member(call("PATCH", path("push", "endpoints", id), changes), "push_endpoint")
    end

    # Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
    #
    # * +id+: The id of the endpoint.
    #
    # Raises NotFoundError.
    #
    #   client.delete_push_endpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def delete_push_endpoint(id)
      call("DELETE", path("push", "endpoints", id))
      nil
    end

    # Sends a job of the type <tt>push.test</tt> now, once, and explains the answer: <tt>success</tt>,
    # <tt>outcome</tt>, <tt>explanation</tt>, <tt>status_code</tt>, <tt>response_time_ms</tt>, <tt>response_body</tt>.
    #
    # * +id+: The id of the endpoint.
    #
    # Raises NotFoundError.
    #
    #   client.test_push_endpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def test_push_endpoint(id)
      call("POST", path("push", "endpoints", id, "test"), {})
    end

    # Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one.
    #
    # * +id+: The id of the endpoint.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.rotate_push_secret("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def rotate_push_secret(id)
      member(call("POST", path("push", "endpoints", id, "rotate-secret"), {}), "push_endpoint")
    end

    # What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error. It
    # is read from the job and from the event log, so it is there for as long as the job. <tt>fingerprint</tt> of a
    # failed attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job has
    # at most the newest 50 failures.
    #
    # * +id+: The job's id.
    # * +limit+: The most events in the answer, 1 to 1,000; 50 without it.
    # * +cursor+: The <tt>next_cursor</tt> of the page before.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.get_history("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_history(id, limit: nil, cursor: nil)
      call("GET", query(path("jobs", id, "history"), limit: limit, cursor: cursor))
    end

    # The workflow that a job is part of, with all its steps as a <tt>tree</tt>; a job without a workflow is a tree of
    # its own. <tt>root_id</tt> is the outermost workflow. <tt>parent_id</tt> and <tt>root_id</tt> of a job without a
    # workflow are what its client has sent under these names. A tree has at most 1,000 nodes; <tt>truncated</tt> says
    # that there are more.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.get_lineage("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def get_lineage(id)
      call("GET", path("jobs", id, "lineage"))
    end

    # Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The errors
    # and the result of the job are parts of the job: they go when the job is deleted.
    #
    # * +id+: The job's id.
    #
    # Raises NotFoundError.
    #
    #   client.delete_history("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def delete_history(id)
      call("DELETE", path("jobs", id, "history"))
    end

    # How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the
    # oldest first. Periods in which nothing happened are left out. Figures are kept for a day by minutes and for a
    # month by hours. Durations come from classes, so they are off by 10 % at most. Figures are kept by queue, not by
    # job type: <tt>job_types</tt> is answered with 501.
    #
    # * +since+: From this time on; without it an hour, a day or a month back.
    # * +before+: Before this time.
    # * +queues+: Only events of jobs of these queues, with commas between them.
    # * +group_by+: The length of each period; <tt>hour</tt> without it. It is "minute", "hour" or "day".
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.history_stats(since: "2031-01-01T00:00:00Z", queues: "mail", group_by: "day")
    def history_stats(since: nil, before: nil, queues: nil, group_by: nil)
      list(call("GET", query(path("history", "stats"), start: time("since", since), end: time("before", before), queues: queues, group_by: group_by)), "buckets")
    end

    # Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids, numbers
    # and quoted text. A group has <tt>fingerprint</tt>, <tt>error_type</tt>, <tt>message</tt> (the last one),
    # <tt>count</tt>, <tt>first_seen_at</tt>, <tt>last_seen_at</tt>, <tt>queues</tt>, <tt>types</tt> and
    # <tt>job_ids</tt>, the newest jobs of each queue and type, 50 at most. The server keeps the 2,000 groups of a
    # queue and type that failed last, for 30 days after their last failure. Failures of the last five seconds before
    # a crash may be missing.
    #
    # * +queue+: Only failures of jobs of this queue.
    # * +type+: Only this job type; <tt>email.*</tt> is all types that start with <tt>email.</tt>.
    # * +error_type+: Only errors of this type.
    # * +tenant+: Only failures of jobs of this tenant.
    # * +since+: Only groups with a failure at this time or later.
    # * +sort+: What comes first: <tt>last_seen_at</tt> (the default), <tt>first_seen_at</tt> or <tt>count</tt>, the
    #   latest or the largest.
    # * +page+: The page, from 1.
    # * +per_page+: The most groups on the page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_error_groups(queue: "mail", type: "email.*", error_type: "Timeout", tenant: "acme", since: "2031-01-01T00:00:00Z", sort: "count", page: 2, per_page: 50)
    def list_error_groups(queue: nil, type: nil, error_type: nil, tenant: nil, since: nil, sort: nil, page: nil, per_page: nil)
      list(call("GET", query(path("admin", "errors"), queue: queue, type: type, error_type: error_type, tenant: tenant, since: time("since", since), sort: sort, page: page, per_page: per_page)), "items")
    end

    # One group of errors, with its <tt>places</tt> (the failures by queue and type) and those of its <tt>jobs</tt>
    # that there still are.
    #
    # * +fingerprint+: The fingerprint, as the history of a job has it.
    # * +queue+: Only failures of jobs of this queue.
    # * +type+: Only this job type.
    # * +tenant+: Only failures of jobs of this tenant.
    #
    # Raises NotFoundError, InvalidRequestError.
    #
    #   client.get_error_group("1f0c5f9d2a7be643", queue: "mail")
    def get_error_group(fingerprint, queue: nil, type: nil, tenant: nil)
      call("GET", query(path("admin", "errors", fingerprint), queue: queue, type: type, tenant: tenant))
    end

    # Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. The
    # server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place which
    # the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or have ended
    # since the request are not meant. Those that cannot be changed are counted by reason. With <tt>dry_run</tt>
    # nothing is changed: the answer has <tt>matched</tt>, the number of jobs (<tt>relation</tt> is <tt>eq</tt>,
    # <tt>about</tt> or <tt>gte</tt>; at most 50,000 rows are looked at), the numbers by state, queue and type, and a
    # <tt>sample</tt>. To delete needs the permission to administer. At most 100 operations of a tenant, and 100 of
    # operators, may be under way.
    #
    # * +action+: <tt>retry</tt>, <tt>cancel</tt> or <tt>delete</tt>.
    # * +filter+: Which jobs: <tt>queue</tt>, <tt>type</tt>, <tt>state</tt> (one or a list), <tt>since</tt>,
    #   <tt>until</tt>, <tt>priority</tt>, <tt>meta</tt>, <tt>error_type</tt> (of the latest error),
    #   <tt>dead_letters</tt> (true: only dead letters) and <tt>q</tt> (a search, as lists of jobs have it). An empty
    #   one means all that the action can reach.
    # * +reason+: Why, at most 500 characters; it is kept with the operation.
    # * +dry_run+: Say what would be found, and change nothing.
    #
    # Raises InvalidStateTransitionError, InvalidRequestError, AuthenticationError.
    #
    #   client.start_bulk_operation("retry", { queue: "mail", state: "discarded" }, reason: "the mail server was down")
    def start_bulk_operation(action, filter, reason: nil, dry_run: nil)
      # Sent once: a refusal with 408 is an answer here.
      call("POST", path("admin", "bulk"), { action: action, filter: filter, reason: reason, dry_run: dry_run, confirm: true }.compact)
    end

    # Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.
    #
    # * +state+: Only those in this state: <tt>running</tt>, <tt>paused</tt>, <tt>completed</tt>, <tt>cancelled</tt>
    #   or <tt>failed</tt>.
    # * +cursor+: Only those before this one: the id of the last one on the page before.
    # * +per_page+: The most on the page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_bulk_operations(state: "running", per_page: 50)
    def list_bulk_operations(state: nil, cursor: nil, per_page: nil)
      list(call("GET", query(path("admin", "bulk"), state: state, cursor: cursor, per_page: per_page)), "items")
    end

    # A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why.
    # <tt>counts</tt> has <tt>seen</tt>, <tt>changed</tt> and <tt>refused</tt>; <tt>refusals</tt> has <tt>count</tt>,
    # the first <tt>job_id</tt> and its <tt>message</tt> for each <tt>reason</tt>; <tt>progress</tt> has the number of
    # jobs that is <tt>expected</tt> and the <tt>fraction</tt> that is done, where it can be said.
    #
    # * +id+: The id of the operation.
    # * +wait_ms+: Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000 at
    #   most.
    #
    # Raises NotFoundError.
    #
    #   client.get_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", wait_ms: 30000)
    def get_bulk_operation(id, wait_ms: nil)
      call("GET", query(path("admin", "bulk", id), wait_ms: wait_ms))
    end

    # Stops a bulk operation until it is resumed. The slice that is under way is finished.
    #
    # * +id+: The id of the operation.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.pause_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def pause_bulk_operation(id)
      call("POST", path("admin", "bulk", id, "pause"), {})
    end

    # Goes on with a bulk operation that was paused, or that has failed, where it stopped.
    #
    # * +id+: The id of the operation.
    #
    # Raises InvalidStateTransitionError, NotFoundError, AuthenticationError.
    #
    #   client.resume_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def resume_bulk_operation(id)
      call("POST", path("admin", "bulk", id, "resume"), {})
    end

    # Ends a bulk operation for good. Jobs that it has changed stay changed.
    #
    # * +id+: The id of the operation.
    #
    # Raises InvalidStateTransitionError, NotFoundError.
    #
    #   client.cancel_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")
    def cancel_bulk_operation(id)
      call("POST", path("admin", "bulk", id, "cancel"), {})
    end

    # The relays that send rows of outboxes to this server, with what each of them said last. An item has <tt>id</tt>,
    # <tt>name</tt>, <tt>tenant_id</tt>, <tt>database</tt> (its kind), <tt>outbox</tt> (the table), <tt>state</tt>
    # (<tt>running</tt>; <tt>stuck</tt> while a row has waited for more than a minute; <tt>silent</tt> after 20
    # seconds without a heartbeat), <tt>leading</tt> (whether it is the one that sends), <tt>waiting</tt> (rows, with
    # <tt>waiting_relation</tt>: <tt>gte</tt> when there are more than were counted), <tt>oldest_waiting_ms</tt>,
    # <tt>parked</tt> (rows that the server has refused for good), <tt>sent</tt> since its start,
    # <tt>sent_per_minute</tt>, <tt>error</tt> (what holds it up), <tt>first_heartbeat_at</tt> and
    # <tt>last_heartbeat_at</tt>. <tt>summary</tt> counts the relays by state. A relay that stops is forgotten at
    # once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.
    #
    # * +state+: Only relays in this state: <tt>running</tt>, <tt>stuck</tt> or <tt>silent</tt>.
    # * +page+: The page, from 1.
    # * +per_page+: The most relays on the page, 1 to 100; 20 without it.
    #
    # Raises InvalidRequestError.
    #
    #   client.list_relays(state: "stuck", page: 2, per_page: 50)
    def list_relays(state: nil, page: nil, per_page: nil)
      list(call("GET", query(path("admin", "relays"), state: state, page: page, per_page: per_page)), "items")
    end

    private

    # Sends a request and reads its answer.
    def call(method, path, body = nil, wait: nil)
      @transport.request(method, path, body, wait: wait)
    end
  end
  private_constant :Operations
end
