import { cleanedUp } from "../support/cleanup.ts";
import { control } from "./test-context.ts";

type Delivery = { number: number; status: string; failures: number };

/**
 * Has a server's own simulator repeat what the server has refused, as any server does on a busy machine,
 * within a second. Its providers would wait for minutes; a test's own simulator shortens that by `timeScale`.
 */
export function repeatRefusals(simulatorUrl: string): void {
  const repeat = async () => {
    const { slots } = await control(simulatorUrl, "/state");
    for (const [slot, { deliveries }] of Object.entries<{ deliveries: Delivery[] }>(slots)) {
      const refused = deliveries.filter(({ status, failures }) => status === "waiting" && failures > 0);
      for (const { number } of refused) await control(simulatorUrl, `/${slot}/redeliver`, { number });
    }
  };
  // The server may have been closed.
  const timer = setInterval(() => void repeat().catch(() => {}), 1_000).unref();
  cleanedUp(async () => clearInterval(timer));
}
