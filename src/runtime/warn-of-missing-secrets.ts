import type { Config } from "../config/config.ts";
import { SLOTS } from "../domain/slot.ts";
import type { Log } from "../observability/log.ts";
import type { Runtime } from "./runtime.ts";

/**
 * At a start, warns of slots in use without a secret, which would show only with the first refused delivery. Most servers
 * use one slot: of the others they would be warned at each start.
 */
export function warnOfMissingSecrets(config: Config, runtime: Runtime, log: Log): void {
  for (const slot of SLOTS) {
    const isUsed = config.activeProvider === slot || runtime.payments[slot] !== null;
    if (!isUsed || runtime.intake.slots[slot].secrets.length > 0) continue;
    log.warn(
      { slot },
      `${config.slots[slot].secretVariable} is not set: every delivery to ${slot} is refused`,
    );
  }
}
