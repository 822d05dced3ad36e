import { type Command, Option } from "commander";
import { SLOTS } from "../domain/slot.ts";
import { jsonOption, share, wholeNumber } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { runSimulation, type SimulateOptions } from "./run-simulation.ts";
import { loopbackUrl } from "./server-address.ts";
import { failureOf, simulationText } from "./simulation-text.ts";

export function addSimulate(program: Command): void {
  program
    .command("simulate")
    .description(
      "sends signed events as a payment provider would, and checks that the server's subscriptions end as they should",
    )
    .addOption(
      new Option("--slot <slot>", "which slot to send to, in its wire format")
        .choices(SLOTS)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--events <n>", "how many events, up to 1000000")
        .default(1_000)
        .argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(
      new Option("--duplicates <share>", "the share of events sent twice, 0 to 1")
        .default(0)
        .argParser(share),
    )
    .addOption(
      new Option("--corrupt <share>", "the share of events of which a damaged copy is sent too, 0 to 1")
        .default(0)
        .argParser(share),
    )
    .option(
      "--shuffle",
      "send in random order; otherwise each subscription's events go in their order",
      false,
    )
    .addOption(
      new Option("--concurrency <n>", "how many are sent at once, up to 1000")
        .default(32)
        .argParser(wholeNumber(1, 1_000)),
    )
    .addOption(
      new Option("--rate <n>", "how many a second at most (default: as fast as they are answered)").argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
    .addOption(
      new Option("--seed <n>", "tells the same story again, of other people (default: random)").argParser(
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
Users of its own are made first (ids sim_<run>_0 and up). What is answered 503, or not at all, is sent again.

Examples:
  npm run -s tollgate -- simulate --slot provider-a --events 1000
  npm run -s tollgate -- simulate --slot provider-b --duplicates 0.2 --corrupt 0.05 --rate 200
  npm run -s tollgate -- simulate --slot provider-c --shuffle --seed 7 --json`,
    )
    .action(async (options: SimulateOptions) => {
      const report = await runSimulation(options);
      conclude({ json: report, text: () => simulationText(report), failure: failureOf(report) }, options);
    });
}
