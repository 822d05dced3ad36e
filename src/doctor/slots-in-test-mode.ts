import type { Config } from "../config/config.ts";
import { connectPayments, paymentAccess } from "../config/payments.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { checkKeyFormat } from "./check-key-format.ts";

/** The slots whose provider says that their key moves no money; errors are left to the check of the key. */
export async function slotsInTestMode(config: Config): Promise<ReadonlySet<Slot>> {
  const access = paymentAccess(config, null);
  const payments = connectPayments(access);
  const found = await Promise.all(
    SLOTS.map(async (slot) => {
      const { apiKeyVariable } = config.slots[slot];
      const [slotAccess, api] = [access[slot], payments[slot]];
      if (slotAccess === null || checkKeyFormat({ ...slotAccess, slot, apiKeyVariable }) !== null) return [];
      const isInTestMode = await api?.isInTestMode?.().catch(() => false);
      return isInTestMode ? [slot] : [];
    }),
  );
  return new Set(found.flat());
}
