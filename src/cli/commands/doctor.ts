import type { Command } from "commander";
import { diagnose } from "../../doctor/diagnose.ts";
import { jsonOption } from "../arguments.ts";
import { closeOnSignal } from "../close-on-signal.ts";
import { conclude } from "../conclude.ts";
import { doctorText } from "../output/doctor-text.ts";
import type { Terminal } from "../terminal.ts";

export function addDoctor(program: Command, terminal: Terminal): void {
  program
    .command("doctor")
    .description("checks everything the server depends on, and says how to fix what is wrong")
    .option("--production", "also check what a production server needs")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Sends each slot in use a signed test event through APP_URL, as its provider would; it appears in the delivery log as
tollgate.doctor. Asks each provider for a subscription that does not exist and for the price ids in plans.config.ts.
With --production, asks Lemon Squeezy whether its key is a test key, which the key itself does not show.
Logs in to the mail server without sending anything. Changes nothing else. Exit status: 1 when something is broken, 0
with warnings.

Examples:
  npm run -s tollgate -- doctor
  npm run -s tollgate -- doctor --production
  npm run -s tollgate -- doctor --json | jq '.findings[] | select(.state == "broken")'`,
    )
    .action(async (options: { json?: boolean; production?: boolean }) => {
      const checking = diagnose(terminal.env, options);
      const removeHandlers = closeOnSignal(() => checking.catch(() => {}));
      const findings = await checking.finally(removeHandlers);
      const count = findings.filter(({ state }) => state === "broken").length;
      const failure = count === 0 ? null : `${count} ${count === 1 ? "check" : "checks"} failed`;
      conclude(
        terminal,
        { json: { ok: count === 0, findings }, text: () => doctorText(findings), failure },
        options,
      );
    });
}
