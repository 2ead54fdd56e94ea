import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.openjobspec.Job;
import org.openjobspec.JobTrain;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;
import org.openjobspec.Train;
import org.openjobspec.Train.TrainAction;

/**
 * Job trains in Java: the worker of ADR-5, "Database-Backed Job Serialization", line by line. What it prints is the
 * same in every language.
 */
public class Trains {
    static void deploy(Map<?, ?> args, JobTrain train) {
        String place = train == null ? "in no train" : "number " + train.position() + " of " + train.id();
        System.out.println(args.get("action") + ": " + place);
    }

    public static void main(String[] args) {
        String url = Objects.requireNonNullElse(System.getenv("OJS_URL"), "memory:trains");
        try (var client = OJSClient.connect(url);
             var worker = OJSWorker.builder().client(client).queues("deployments").build()) {
            // defmodule DeploymentWorker do
            //   use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
            var policy = Train.DEFAULT.withOnCancelled(TrainAction.HOLD).withOnDiscarded(TrainAction.ADVANCE);
            worker.register("deployment", ctx -> {
                // def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
                deploy(ctx.arg(0, Map.class), ctx.train());
                return null;
            }, job -> job.queue("deployments").train(policy));

            // A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
            Map<String, Object> deploy = Map.of("destination_id", 123, "action", "deploy");
            Job regular = client.job("deployment", deploy).enqueue();
            // A train job: … |> D9s.JobTrains.insert("dest_123")
            Job first = client.job("deployment", deploy).train("dest_123").enqueue();
            // Multiple jobs for the same resource queue: it waits for the deploy.
            Map<String, Object> rollback = Map.of("destination_id", 123, "action", "rollback");
            Job second = client.job("deployment", rollback).train("dest_123").enqueue();

            worker.start();
            for (Job job : List.of(regular, first, second)) client.waitForResult(job.id(), Duration.ofSeconds(30));
        }
    }
}
