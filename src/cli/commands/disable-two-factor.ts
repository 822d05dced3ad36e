import type { Command } from "commander";
import { disableTwoFactor } from "../../operations/users/disable-two-factor.ts";
import { findByEmail } from "../../operations/users/find-by-email.ts";
import { jsonOption } from "../arguments.ts";
import { conclude } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";

export function addDisableTwoFactor(users: Command, terminal: Terminal): void {
  users
    .command("disable-two-factor")
    .description("turns off two-factor authentication for a user who has lost their phone and backup codes")
    .argument("<email>", "the address that the user signs in with")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
From then on the password alone is enough: first make sure that the request is the user's. They are told by mail.

Example:
  npm run -s tollgate -- users disable-two-factor somebody@example.com`,
    )
    .action(async (email: string, options: { json?: boolean }) => {
      const { user, disabled } = await withRuntime(terminal, async (runtime) => {
        const found = await runAsOperator(findByEmail, runtime, { email });
        return { user: found, ...(await runAsOperator(disableTwoFactor, runtime, { userId: found.id })) };
      });
      const text = disabled ? "two-factor authentication is off now" : "two-factor authentication was not on";
      conclude(terminal, { json: { id: user.id, disabled }, text: () => `${user.email}: ${text}` }, options);
    });
}
