import { type PaymentApi, PaymentApiProblem } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { broken, type Finding, good } from "./finding.ts";
import { reasonOf } from "./look.ts";

/** Ids as each provider makes them, which nothing has: that it knows no such thing is told to nobody without a key. */
const NOTHING: Record<WireFormat, string> = {
  stripe: "sub_0000000000doctor",
  paddle: "sub_00000000000000000000doctor",
  polar: "00000000-0000-4000-8000-000000000000",
  "lemon-squeezy": "1",
};

/** Asks for a subscription that does not exist. */
export async function checkKey(
  slot: Slot,
  { format, isSimulated, api }: { format: WireFormat; isSimulated: boolean; api: PaymentApi },
): Promise<Finding> {
  const check = `${slot} key`;
  try {
    await api.fetchSubscription(NOTHING[format]);
  } catch (error) {
    if (!(error instanceof PaymentApiProblem))
      return broken(check, reasonOf(error), "This is a defect: please report it.");
    // It has let us in, and did not like the id.
    const isIn =
      error.failure === "missing" ||
      (error.failure === "rejected" && /answered 4(?:00|22)\b.*: "/.test(error.message));
    if (!isIn) return refusedBy(check, error, isSimulated);
  }
  return good(check, isSimulated ? "the simulated provider takes it" : "the provider takes it");
}

/** Its message ends in a sentence that says what to do. */
function refusedBy(check: string, { failure, message }: PaymentApiProblem, isSimulated: boolean): Finding {
  const remedy = isSimulated
    ? "Start the server, which brings the simulated provider along; or set the slot's API key."
    : (/[.:] ([A-Z][^.]*\.)$/.exec(message)?.[1] ?? "Check the slot's API key and API URL.");
  return broken(check, `${failure}: ${message.replace(remedy, "").trim()}`, remedy);
}
