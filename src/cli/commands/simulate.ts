import { type Command, Option } from "commander";
import { SLOTS } from "../../domain/slot.ts";
import { jsonOption, share, wholeNumber } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { failureOf, simulationText } from "../output/simulation-text.ts";
import { loopbackUrl } from "../server-address.ts";
import type { Terminal } from "../terminal.ts";
import { runSimulation, type SimulateOptions } from "./run-simulation.ts";

export function addSimulate(program: Command, terminal: Terminal): void {
  program
    .command("simulate")
    .description("sends signed events as a payment provider would, and checks the resulting subscriptions")
    .addOption(new Option("--slot <slot>", "the slot to send to").choices(SLOTS).makeOptionMandatory())
    .addOption(
      new Option("--events <n>", "how many events, 1 to 1000000")
        .default(1_000)
        .argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(
      new Option("--duplicates <share>", "the fraction of events that are sent twice, 0 to 1")
        .default(0)
        .argParser(share),
    )
    .addOption(
      new Option("--corrupt <share>", "the fraction of events of which a corrupted copy is sent too, 0 to 1")
        .default(0)
        .argParser(share),
    )
    .option("--shuffle", "send in random order; the default keeps each subscription's events in order", false)
    .addOption(
      new Option("--concurrency <n>", "how many are sent at a time, 1 to 1000")
        .default(32)
        .argParser(wholeNumber(1, 1_000)),
    )
    .addOption(
      new Option("--rate <n>", "at most this many per second (default: unlimited)").argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
    .addOption(
      new Option("--seed <n>", "repeats the same scenario with new users (default: random)").argParser(
        wholeNumber(0, 2 ** 32 - 1),
      ),
    )
    .addOption(
      new Option("--url <url>", "a server on this machine (default: http://127.0.0.1:$PORT)").argParser(
        loopbackUrl,
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Creates users of its own first (ids sim_<run>_0 and up). Deliveries that get 503 or no response are sent again.

Examples:
  npm run -s tollgate -- simulate --slot provider-a --events 1000
  npm run -s tollgate -- simulate --slot provider-b --duplicates 0.2 --corrupt 0.05 --rate 200
  npm run -s tollgate -- simulate --slot provider-c --shuffle --seed 7 --json`,
    )
    .action(async (options: SimulateOptions) => {
      const report = await runSimulation(terminal, options);
      conclude(
        terminal,
        { json: report, text: () => simulationText(report), failure: failureOf(report) },
        options,
      );
    });
}
