import type { Command } from "commander";
import { z } from "zod";
import { dismissSubscription } from "../../operations/subscriptions/dismiss-subscription.ts";
import { jsonOption, parsedBy } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

export function addSubscriptions(program: Command, terminal: Terminal): void {
  const subscriptions = program
    .command("subscriptions")
    .description("subscriptions that need review: dismiss");
  subscriptions
    .command("dismiss")
    .description("removes a subscription from the review list without changing it")
    .argument("<id>", "its id in Tollgate, as webhooks reconcile prints it", parsedBy(z.uuid()))
    .requiredOption("--reason <text>", "why; recorded in the audit log")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
For a subscription that no longer exists at the provider, or whose slot has no API key.

Example:
  npm run -s tollgate -- subscriptions dismiss 6f1c0e0a-5b0e-4c53-9d6c-0f7f2f1f6a11 --reason "refunded by hand"`,
    )
    .action(async (id: string, { reason, ...output }: { reason: string; json?: boolean }) => {
      const subscription = await withRuntime(terminal, (runtime) =>
        runAsOperator(dismissSubscription, runtime, { id, reason }),
      );
      conclude(terminal, { json: subscription, text: () => `subscription ${id}: dismissed` }, output);
    });
}
