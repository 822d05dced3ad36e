import { endWhenStalled } from "../../domain/end-when-stalled.ts";
import { DatabaseUnavailable } from "../../store/database.ts";
import type { Intake } from "../intake.ts";
import { retryDue } from "./retry.ts";

export type RetryJob = {
  /** Runs a pass now, or waits for the one under way. */
  runNow(): Promise<"ok" | "failed">;
  stop(): Promise<void>;
};

export type RetryJobOptions = {
  /** Counts runs; `null`: nobody does. */
  observe: ((job: string, outcome: "ok" | "failed") => void) | null;
  /** `request`: passes are run by `runNow` alone. */
  runsOn: "timer" | "request";
};

/** Runs `webhook-retry` inside the server until it is stopped; a running pass is finished. */
export function startRetryJob(intake: Intake, { observe, runsOn }: RetryJobOptions): RetryJob {
  const everyMs = Math.min(5_000, Math.max(250, (intake.leaseSeconds * 1000) / 4));
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running: Promise<"ok" | "failed"> | null = null;

  async function pass(): Promise<"ok" | "failed"> {
    try {
      const report = await endWhenStalled(
        () => stopped,
        (isStopping) => retryDue(intake, isStopping),
      );
      if (report.failed + report.gaveUp > 0)
        intake.log.warn(report, "webhook-retry: deliveries failed again");
      observe?.("webhook-retry", "ok");
      return "ok";
    } catch (error) {
      observe?.("webhook-retry", "failed");
      if (!(error instanceof DatabaseUnavailable)) intake.log.error({ err: error }, "webhook-retry failed");
      return "failed";
    }
  }

  function runNow(): Promise<"ok" | "failed"> {
    clearTimeout(timer);
    running ??= pass().finally(() => {
      running = null;
      if (!stopped) schedule();
    });
    return running;
  }

  function schedule(): void {
    if (runsOn === "request") return;
    timer = setTimeout(() => void runNow(), everyMs);
  }

  schedule();
  return {
    runNow,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
