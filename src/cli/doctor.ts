import type { Command } from "commander";
import { diagnose } from "../doctor/diagnose.ts";
import { jsonOption } from "./arguments.ts";
import { conclude } from "./conclude.ts";
import { doctorText } from "./doctor-text.ts";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description(
      "looks at everything that the server depends on, and says what to do where something is wrong",
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Each slot that is in use is sent a signed test event through APP_URL, as its provider would send it; it stands in the
log of deliveries as tollgate.doctor. Providers are asked for a subscription that does not exist, and for the price
ids in plans.config.ts. Nothing else is changed. Exit status: 1 when something is broken, 0 with warnings.

Examples:
  npm run -s tollgate -- doctor
  npm run -s tollgate -- doctor --json | jq '.findings[] | select(.state == "broken")'`,
    )
    .action(async (options: { json?: boolean }) => {
      const findings = await diagnose(process.env);
      const count = findings.filter(({ state }) => state === "broken").length;
      const failure = count === 0 ? null : `${count} ${count === 1 ? "thing is" : "things are"} broken`;
      conclude({ json: { ok: count === 0, findings }, text: () => doctorText(findings), failure }, options);
    });
}
